from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0006_policies_and_forgetting")]

    operations = [
        migrations.AddField(
            model_name="forgetting",
            name="to_rewrite",
            field=models.JSONField(
                default=list, help_text="Summaries to be written anew from what is left: {what, id} or turns; ids only"
            ),
        ),
    ]
