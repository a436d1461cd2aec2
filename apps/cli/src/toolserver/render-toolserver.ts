import { duration } from '@svc/service-kit/words.ts';
import { visibleLine, type Style } from '../terminal.ts';
import type { Approval, Clients, ListedClient, WaitingClient } from './toolserver-api.ts';

/** Programs with access, and those whose page is open. `now` is epoch ms. */
export function renderClients({ clients, waiting }: Clients, now: number, style: Style): string {
  const lines = clients.map((client) => clientLine(client, now, style));
  return [
    ...(lines.length === 0 ? ['No program has access yet.'] : [style.bold('Programs:'), '', ...lines]),
    ...(waiting.length === 0 ? [] : ['', ...waitingLines(waiting, style), '', 'Let one in:  ./svc toolserver approve']),
  ].join('\n');
}

function clientLine(
  { client_id: id, client_name: name, user_id: user, approved_at: at }: ListedClient,
  now: number,
  style: Style,
): string {
  const state = at === null ? style.dim('not connected yet') : `since ${duration(now - at)}`;
  return `  ${visibleLine(name)}  ${style.dim(`${visibleLine(id)}, user ${visibleLine(user)}`)}  ${state}`;
}

const waitingLines = (waiting: readonly WaitingClient[], style: Style): string[] => [
  style.bold('Waiting for your approval:'),
  ...waiting.map(
    ({ client_name: name, client_id: id, redirect_to: to, person }) =>
      `  ${visibleLine(name)}  ${style.dim(`${visibleLine(id)}, leads to ${visibleLine(to)}, speaks for ${person ?? 'nobody yet'}`)}`,
  ),
];

/** The code, and where to type it. `as`: key of the person for whom the program on that page will act. */
export function renderApproval({ code, expires_in_s: lifeS, waiting }: Approval, as: string | null, style: Style): string {
  return [
    `Code: ${style.bold(style.green(code))}  ${style.dim(`works once, for ${duration(lifeS * 1000)}`)}`,
    '',
    ...(waiting.length === 0
      ? ['No page is open yet. Connect the program; a page opens in the browser, where the code goes.']
      : [...waitingLines(waiting, style), '', 'Type the code into the page, if you have connected this program yourself.']),
    ...(as === null ? [] : [`That program will act for "${visibleLine(as)}".`]),
  ].join('\n');
}
