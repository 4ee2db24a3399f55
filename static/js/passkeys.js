// @ts-check
/**
 * Passkeys: forms with data-passkey submit a credential in their hidden field "credential".
 *
 *   make      creates a passkey, with the options in #passkey-options
 *   use       uses a passkey, with the options in #passkey-options
 *   sign-in   uses a passkey, with options fetched from the form's action
 */

const ERRORS = {
  NotAllowedError: "No passkey was used. Nothing was changed. Try again when you're ready.",
  AbortError: "No passkey was used. Nothing was changed. Try again when you're ready.",
  InvalidStateError: "This device already has a passkey for this account.",
  NotSupportedError: "This device doesn't support this kind of passkey.",
};

/** @param {HTMLFormElement} form @param {unknown} error */
function showError(form, error) {
  const name = error instanceof DOMException ? error.name : "";
  const address = /^[\d.]+$|^\[/.test(location.hostname)
    ? `Passkeys don't work with IP addresses. Open Recall at ${location.protocol}//localhost${location.port ? `:${location.port}` : ""} or at its domain name.`
    : "";
  const line = form.querySelector("[data-passkey-said]");
  if (line) line.textContent = address || ERRORS[name] || "The passkey didn't work. Try again, or sign in another way.";
}

// WebAuthn JSON, for browsers that can't parse it themselves ---------------------------------------

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
function serialize(credential) {
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

const readOptions = () => JSON.parse(document.getElementById("passkey-options")?.textContent ?? "{}");

/** @param {HTMLFormElement} form */
async function make(form) {
  const options = readOptions().creation_options.publicKey;
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
  return navigator.credentials.get({ publicKey: request(readOptions().request_options.publicKey) });
}

/** @param {HTMLFormElement} form */
async function signIn(form) {
  const headers = { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" };
  const response = await fetch(form.action, { headers });
  if (!response.ok) throw new Error(`${response.status}`);
  return navigator.credentials.get({ publicKey: request((await response.json()).request_options.publicKey) });
}

const METHODS = { make, use, "sign-in": signIn };

/** @param {HTMLFormElement} form @param {HTMLButtonElement} button */
async function submitCredential(form, button) {
  const field = form.elements.namedItem("credential");
  button.disabled = true;
  try {
    const credential = await METHODS[form.dataset.passkey ?? ""](form);
    if (field instanceof HTMLInputElement) field.value = JSON.stringify(serialize(credential));
    form.submit();
  } catch (error) {
    showError(form, error);
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
      submitCredential(form, button);
    });
  }
}
