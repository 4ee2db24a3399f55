"""What the parts of the page `/budget` show, a module a part; the shapes are in templates/budget/page.html."""
