// @ts-check
/**
 * From the search to a conversation or message without a load: the chat's page takes the place of this one, and its
 * scripts start. They show in place what is visited next; Back loads the search again.
 */

import { onVisit } from "./visits.js";

const CHAT = /^\/(?:c\/[0-9a-f-]{36}|m\/(\d+))$/;
const search = location.pathname;
let visits = 0;

const isEntered = () => document.getElementById("chat") !== null;

/** @param {URL} to */
async function enter(to) {
  const own = ++visits;
  const response = await fetch(to).catch(() => null);
  const html = await response?.text().catch(() => "");
  const page = new DOMParser().parseFromString(html ?? "", "text/html");
  if (own !== visits) return; // the user chose another one
  if (!response?.ok || !page.getElementById("chat")) return location.assign(to);
  const [, message] = CHAT.exec(to.pathname) ?? [];
  history.pushState(null, "", message ? `${response.url}#m-${message}` : response.url);
  document.title = page.title;
  document.body.className = page.body.className;
  for (const part of [".topnav", "#notices", "main"]) {
    document.querySelector(part)?.replaceWith(/** @type {Element} */ (page.querySelector(part)));
  }
  /** @type {any} */ (window).htmx.process(document.body);
  if (message) location.replace(location.hash); // the browser goes there and marks it
  const scripts = [...document.querySelectorAll("main script"), ...page.querySelectorAll("script[type=module]")];
  for (const script of scripts) await import(/** @type {HTMLScriptElement} */ (script).src).catch(() => location.reload());
  Object.assign(document.getElementById("announcer") ?? {}, { textContent: page.title }); // as a loaded page's is read
  if (!message && !matchMedia("(pointer: coarse)").matches) document.getElementById("text")?.focus();
}

onVisit((href) => {
  const to = new URL(href, location.href);
  const isWanted = to.origin === location.origin && CHAT.test(to.pathname) && !isEntered();
  if (isWanted) enter(to);
  return isWanted;
});
// After a reload, Forward leads to what was entered before it.
addEventListener("popstate", () => location.pathname !== search && !isEntered() && location.reload());
