import { oauthPaths } from '../oauth/oauth-paths.ts';
import { html, type Html } from './html.ts';

export const stylePath = '/oauth/style.css';

/** What the operator sees before a client gets in. All of `client` was chosen by its author. */
export type ConsentView = {
  assistant: string;
  client: { name: string; id: string };
  /** Where the browser is sent afterwards. */
  redirectTo: string;
  /** For whom the client speaks; null while nobody has linked it to a person. */
  person: string | null;
  /** Ties the form to this authorization. */
  formKey: string;
  /** What was wrong with the last try. */
  fault?: string;
};

export function renderConsentPage(view: ConsentView): string {
  const { assistant, client, redirectTo, person, formKey, fault } = view;
  const who =
    person === null
      ? html`Nobody yet, so its questions are refused. A code from <code>./svc toolserver approve --as owner</code> makes it speak
          for you.`
      : html`<strong>${person}</strong>`;
  return page(
    `Connect to ${assistant}`,
    html`<h1>Allow this program to ask ${assistant}?</h1>
      <p class="note">Deny the request if you did not start it yourself just now.</p>
      <dl>
        <div>
          <dt>Program</dt>
          <dd><strong>${client.name}</strong> <span class="note">(the name that it chose itself)</span></dd>
        </div>
        <div>
          <dt>Client ID</dt>
          <dd><code>${client.id}</code></dd>
        </div>
        <div>
          <dt>Sends you back to</dt>
          <dd><code>${redirectTo}</code></dd>
        </div>
        <div>
          <dt>May</dt>
          <dd>ask questions and read the answers, until you revoke its access</dd>
        </div>
        <div>
          <dt>Speaks for</dt>
          <dd>${who}</dd>
        </div>
      </dl>
      ${fault === undefined ? '' : html`<p class="fault" role="alert">${fault}</p>`}
      <form method="post" action="${oauthPaths.approve}">
        <input type="hidden" name="form_key" value="${formKey}" />
        <label for="code">Code</label>
        <p class="note hint" id="where">Run <code>./svc toolserver approve</code> on the machine of the service to get one.</p>
        <input
          id="code"
          name="code"
          aria-describedby="where"
          autocomplete="one-time-code"
          autocapitalize="characters"
          spellcheck="false"
          maxlength="20"
        />
        <p class="buttons">
          <button name="decision" value="approve">Approve</button>
          <button name="decision" value="deny" class="quiet">Deny</button>
        </p>
      </form>`,
  );
}

export const renderErrorPage = (what: string): string =>
  page(
    'Connecting failed',
    html`<h1>Connecting failed</h1>
      <p role="alert">${what}</p>
      <p>Go back to the program that sent you here, and connect again.</p>`,
  );

const page = (title: string, body: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="${stylePath}" />
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`.text;

/** Both colour schemes; nothing is fetched from elsewhere. */
export const style = `:root {
  color-scheme: light dark;
  --page: #f6f7f9; --surface: #fff; --text: #1a1d23; --muted: #565e6c; --accent: #2457c5; --on-accent: #fff; --bad: #b3261e; --edge: #7b8494; --line: #dfe2e8;
}
@media (prefers-color-scheme: dark) {
  :root { --page: #121418; --surface: #1a1d23; --text: #e8eaee; --muted: #a5adba; --accent: #8fb4ff; --on-accent: #121418; --bad: #ff9a90; --edge: #7d8797; --line: #2e333d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem; background: var(--surface); }
@media (min-width: 36rem) {
  main { margin: 3rem auto; padding: 2rem; border: 1px solid var(--line); border-radius: 0.75rem; }
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.5rem; }
dl { margin: 1.5rem 0; border-top: 1px solid var(--line); }
dl div { padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
@media (min-width: 36rem) { dl div { display: grid; grid-template-columns: 9rem 1fr; column-gap: 1rem; } }
dt { color: var(--muted); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
code { font: 0.875em/1.5 ui-monospace, monospace; }
label { display: block; font-weight: 600; }
.hint { margin: 0 0 0.5rem; }
input:not([type=hidden]) { width: 100%; min-height: 2.75rem; font: 1.25rem/1.5 ui-monospace, monospace; letter-spacing: 0.1em; padding: 0.5rem 0.75rem; color: inherit; background: var(--surface); border: 1px solid var(--edge); border-radius: 0.375rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1.5rem 0 0; }
button { flex: 1 1 9rem; font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0 1.5rem; border-radius: 0.375rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
button.quiet { background: transparent; border-color: var(--edge); color: inherit; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.note { color: var(--muted); }
.fault { color: var(--bad); font-weight: 600; border-left: 4px solid var(--bad); margin: 0 0 1rem; padding-left: 0.75rem; }
`;
