import type { LinkResult, PendingIdentity } from '@svc/contract/pairing.ts';
import { counted, duration } from '@svc/service-kit/words.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { mayDo } from '../tier-words.ts';

/** The senders who wait for access, for a person. `now` is epoch ms. */
export function renderPending(pending: readonly PendingIdentity[], now: number, style: Style): string {
  if (pending.length === 0) return 'Nobody is waiting. Senders without access are listed here when they write.';
  const width = Math.max(...pending.map((entry) => senderName(entry).length));
  return [
    style.bold('Waiting to be let in, the newest first:'),
    '',
    ...pending.map((entry) => line(entry, width, now, style)),
    '',
    'Check that a code is from the person you think of: names are what senders call themselves.',
    `  ./svc pair CODE              lets that sender in as a new person with the role "known"`,
    `  ./svc pair CODE --as owner   is for your own other device: it gets all your rights`,
    ...(pending.some(({ code }) => code === null) ? [style.dim(withoutCode)] : []),
  ].join('\n');
}

const withoutCode = '  Without a code: it has expired, or the channel gives none. docs/trust.md shows how to let them in.';

function line(entry: PendingIdentity, width: number, now: number, style: Style): string {
  const { code, code_expires_at, count, last_seen } = entry;
  const shown = code === null ? style.dim('no code  ') : style.green(code);
  const life = code_expires_at === null ? '' : `, code for ${duration(code_expires_at - now)}`;
  const facts = `${counted(count, 'message')}, last ${duration(now - last_seen)} ago${life}`;
  return `  ${shown}   ${senderName(entry).padEnd(width)}   ${style.dim(facts)}`;
}

const maxValueChars = 60;

/** `Anna (messenger 12345)`, on one line whatever the sender's name is. */
export function senderName({ surface, value, name }: Pick<PendingIdentity, 'surface' | 'value' | 'name'>): string {
  const short = value.length > maxValueChars ? `${value.slice(0, maxValueChars)}…` : value;
  const who = `${surface} ${visibleLine(short)}`;
  return name === null ? who : `${visibleLine(name)} (${who})`;
}

/** The result of pairing, and how to undo or extend it. */
export function renderLink({ principal, identifier, sender_name, role, trust }: LinkResult, style: Style): string {
  const sender = senderName({ ...identifier, name: sender_name });
  const lines = [
    principal.is_new
      ? `${style.green('Let in:')} ${sender} is now "${principal.key}", with the role ${role}.`
      : `${style.green('Linked:')} ${sender} is now another identity of "${principal.key}".`,
    trust.denied
      ? style.yellow(`Their messages are still refused: ${trust.reason}.`)
      : `${principal.is_new ? 'They' : `"${principal.key}"`} ${mayDo[trust.tool_policy]}. Their next message is answered.`,
    '',
    `Undo:   ./svc person unlink ${identifier.id}`,
  ];
  if (trust.denied || trust.tool_policy !== 'full') {
    lines.push(`Widen:  ./svc person grant ${principal.key} trusted`);
  }
  return lines.join('\n');
}
