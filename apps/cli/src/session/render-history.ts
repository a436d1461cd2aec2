import type { Attachment } from '@svc/contract/envelope.ts';
import type { History, HistoryMessage } from '@svc/contract/session.ts';
import type { Outcome, ToolUse } from '@svc/contract/turn.ts';
import { line } from '../insights/words.ts';
import { visible, type Style } from '../terminal.ts';

export const indent = '      ';
const maxTools = 20;

/** The conversation, oldest first: sender, time and outcome, then the text, the files and the tools. */
export function renderHistory({ messages, next }: History, style: Style): string {
  if (messages.length === 0) return 'No messages are kept for this conversation.';
  const older = next === null ? [] : [style.dim(`There is more before this: --before ${next}`)];
  return [...older, ...messages.flatMap((message) => block(message, style))].join('\n');
}

function block(message: HistoryMessage, style: Style): string[] {
  const { role, at, text, attachments, tools } = message;
  const time = style.dim(new Date(at).toLocaleString('sv-SE'));
  const state = stateOf(message, style);
  return [
    `  ${time} ${style.bold(nameOf(message))}${state === '' ? '' : `, ${state}`}`,
    ...(text === ''
      ? []
      : visible(text)
          .trimEnd()
          .split('\n')
          .map((each) => indent + (role === 'error' ? style.red(each) : each))),
    ...attachments.map((file) => indent + style.dim(fileLine(file))),
    ...(tools.length === 0 ? [] : [indent + style.dim(toolLine(tools))]),
  ];
}

function nameOf({ role, sender }: HistoryMessage): string {
  if (role === 'assistant' || role === 'error') return role;
  return `${line(sender ?? 'unknown sender', 60)}${role === 'operator' ? ' (operator)' : ''}`;
}

/** Only for the request: an answer speaks for itself. */
function stateOf({ role, state, outcome }: HistoryMessage, style: Style): string {
  if (role === 'assistant' || role === 'error') return '';
  switch (state) {
    case 'queued':
      return style.yellow('queued');
    case 'running':
      return style.green('running');
    case 'failed':
      return style.red('failed');
    case 'done':
      return endings[outcome ?? 'silent'] ?? 'done';
    case 'replied':
    case 'delivered':
      return style.dim(state);
  }
}

/** The outcome of a turn without text. */
export const endings: Partial<Record<Outcome, string>> = {
  aborted: 'stopped',
  silent: 'no reply',
  blocked: 'refused',
  denied: 'no access',
  observed: 'noted',
};

export function fileLine({ name, path, mime, bytes }: Attachment): string {
  const facts = [mime, bytes === undefined ? undefined : `${bytes} bytes`].filter((fact) => fact !== undefined);
  return line(`file ${name ?? path.split('/').at(-1)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`, 400);
}

function toolLine(tools: readonly ToolUse[]): string {
  const shown = tools.slice(0, maxTools).map(({ name, ok }) => line(name, 80) + (ok === null ? ' …' : ok ? '' : ' (failed)'));
  return `tools: ${shown.join(', ')}${tools.length > maxTools ? `, and ${tools.length - maxTools} more` : ''}`;
}
