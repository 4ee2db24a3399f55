// @ts-check
/**
 * Passkeys: forms marked data-passkey hand a credential over in their hidden field "credential".
 *
 *   make      options from #passkey-options, a new passkey
 *   use       options from #passkey-options, one that there is
 *   sign-in   options fetched from the form's own address when the button is pressed
 */

const SAID = {
  NotAllowedError: "No passkey was given. Nothing was changed; try again when you are ready.",
  AbortError: "No passkey was given. Nothing was changed; try again when you are ready.",
  InvalidStateError: "This device has a passkey for this account already.",
  NotSupportedError: "This device cannot keep a passkey of the kind that is asked for.",
};

/** @param {HTMLFormElement} form @param {unknown} error */
function say(form, error) {
  const name = error instanceof DOMException ? error.name : "";
  const address = /^[\d.]+$|^\[/.test(location.hostname)
    ? `A passkey belongs to a name, not to a number: open Recall as ${location.protocol}//localhost${location.port ? `:${location.port}` : ""}, or by its own name.`
    : "";
  const place = form.querySelector("[data-passkey-said]");
  if (place) place.textContent = address || SAID[name] || "The passkey could not be used here. Try again, or use something else.";
}

// The JSON of WebAuthn, for browsers that cannot read and write it themselves ---------------------------------------

/** @param {string} text base64url */
function bytes(text) {
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(plain.padEnd(Math.ceil(plain.length / 4) * 4, "=")), (one) => one.charCodeAt(0));
}

/** @param {ArrayBuffer} buffer */
function text(buffer) {
  const plain = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return plain.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {{id: string}[]} [list] */
const withBytes = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

/** @param {any} json */
function creation(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  const user = { ...json.user, id: bytes(json.user.id) };
  return { ...json, user, challenge: bytes(json.challenge), excludeCredentials: withBytes(json.excludeCredentials) };
}

/** @param {any} json */
function request(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  return { ...json, challenge: bytes(json.challenge), allowCredentials: withBytes(json.allowCredentials) };
}

/** @param {any} credential */
function written(credential) {
  if (credential.toJSON) return credential.toJSON();
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = text(credential.response[name]);
  }
  const { id, type, authenticatorAttachment } = credential;
  const clientExtensionResults = credential.getClientExtensionResults();
  return { id, rawId: text(credential.rawId), type, authenticatorAttachment, clientExtensionResults, response };
}

// The three forms ---------------------------------------------------------------------------------------------------

const given = () => JSON.parse(document.getElementById("passkey-options")?.textContent ?? "{}");

/** @param {HTMLFormElement} form */
async function make(form) {
  const options = given().creation_options.publicKey;
  const alone = form.querySelector('input[name="passwordless"]');
  const isAlone = alone instanceof HTMLInputElement && alone.checked;
  options.authenticatorSelection = {
    ...options.authenticatorSelection,
    residentKey: isAlone ? "required" : "discouraged",
    requireResidentKey: isAlone,
    ...(isAlone ? { userVerification: "required" } : {}),
  };
  return navigator.credentials.create({ publicKey: creation(options) });
}

async function use() {
  return navigator.credentials.get({ publicKey: request(given().request_options.publicKey) });
}

/** @param {HTMLFormElement} form */
async function signIn(form) {
  const headers = { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" };
  const answer = await fetch(form.action, { headers });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return navigator.credentials.get({ publicKey: request((await answer.json()).request_options.publicKey) });
}

const ways = { make, use, "sign-in": signIn };

/** @param {HTMLFormElement} form @param {HTMLButtonElement} button */
async function handOver(form, button) {
  const field = form.elements.namedItem("credential");
  button.disabled = true;
  try {
    const credential = await ways[form.dataset.passkey ?? ""](form);
    if (field instanceof HTMLInputElement) field.value = JSON.stringify(written(credential));
    form.submit();
  } catch (error) {
    say(form, error);
    button.disabled = false;
  }
}

if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const button = form.querySelector("button");
    if (!(form instanceof HTMLFormElement) || !button) continue;
    button.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      handOver(form, button);
    });
  }
}
