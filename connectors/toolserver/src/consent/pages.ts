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
      ? html`Nobody yet: its questions are refused. <code>./svc toolserver approve --as owner</code> makes it speak for you.`
      : html`<strong>${person}</strong>`;
  return page(
    `Connect to ${assistant}`,
    html`<h1>Let this program ask ${assistant}?</h1>
      <dl>
        <dt>Program</dt>
        <dd><strong>${client.name}</strong> <span class="note">(the name that it gives itself)</span></dd>
        <dt>Its id</dt>
        <dd><code>${client.id}</code></dd>
        <dt>Sends you back to</dt>
        <dd><code>${redirectTo}</code></dd>
        <dt>May</dt>
        <dd>ask questions and read the answers, until you revoke it</dd>
        <dt>Speaks for</dt>
        <dd>${who}</dd>
      </dl>
      ${fault === undefined ? '' : html`<p class="fault" role="alert">${fault}</p>`}
      <form method="post" action="${oauthPaths.approve}">
        <input type="hidden" name="form_key" value="${formKey}" />
        <p>
          <label for="code">Code from <code>./svc toolserver approve</code> on the machine of the service</label>
          <input
            id="code"
            name="code"
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck="false"
            maxlength="20"
          />
        </p>
        <p class="buttons">
          <button name="decision" value="approve">Approve</button>
          <button name="decision" value="deny" class="quiet">Refuse</button>
        </p>
      </form>
      <p class="note">Refuse if you have not just connected this program yourself.</p>`,
  );
}

export const renderErrorPage = (what: string): string =>
  page(
    'This did not work',
    html`<h1>This did not work</h1>
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
export const style = `:root { color-scheme: light dark; --line: #767676; --accent: #0b57d0; --on-accent: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --line: #8f8f8f; --accent: #a8c7fa; --on-accent: #062e6f; --bad: #f2b8b5; } }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
dt { font-weight: 600; margin-top: 0.75rem; }
dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-bottom: 0.25rem; }
input:not([type=hidden]) { width: 100%; font: inherit; font-size: 1.25rem; letter-spacing: 0.1em; padding: 0.6rem; border: 1px solid var(--line); border-radius: 0.5rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0 1.5rem; border-radius: 0.5rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
button.quiet { background: transparent; color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.note { opacity: 0.85; }
.fault { color: var(--bad); font-weight: 600; border-left: 4px solid var(--bad); padding-left: 0.75rem; }
`;
