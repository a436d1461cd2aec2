import type { Capabilities } from '@svc/contract/envelope.ts';
import { tierWords, type Identity } from '@svc/contract/trust.ts';
import { headingLine, quotedName } from '@svc/engine-kit/prompt-blocks.ts';
import { isByOperator, type Steering, type Turn } from '../turn.ts';

/** The facts of a turn at the top of its message: who wrote, where, when, and what the channel can show. */
export function describeTurn(turn: Turn, identity: Identity, now: number): string {
  const { envelope, together, steering, amends, isResumed } = turn;
  const { channel, capabilities } = envelope;
  const where = envelope.public === true ? 'in public' : 'in private';
  const who = `${quotedName(identity.display_name)} (${tierWords[identity.trust_tier]})`;
  const facts = `over ${channel}, ${where}, on ${timeAt(now)}${describeChannel(capabilities)}${describeRoom(together)}`;
  const head =
    steering !== undefined && isByOperator(turn)
      ? headingLine('steering', ` ${describeSteering(steering)}`)
      : headingLine('message', ` ${who} ${facts}${amends === undefined ? '' : editNote}${steering?.wasRunning ? aheadNote : ''}`);
  return isResumed === true ? `${head}\n${resumeNote}` : head;
}

/** Messages of several people read like a script. */
const describeRoom = (names: readonly string[] = []): string =>
  names.length === 0 ? '' : `; it is from ${names.map(quotedName).join(', ')}, each message with its name before it`;

const editNote = '; it is an edit, and takes the place of the message that you worked on last';

const aheadNote = '; it came while you were at work here, and goes before what you were doing';

function describeSteering({ by, wasRunning }: Steering): string {
  const who = by === null ? 'the operator' : `the operator (${quotedName(by)})`;
  return wasRunning ? `${who}, while you were at work here; it comes before what you were doing` : who;
}

/** Empty when the channel has not declared what it shows. */
function describeChannel({ supports_markdown, supports_code_blocks, max_message_chars }: Capabilities = {}): string {
  const text = supports_code_blocks === true ? 'plain text and code blocks' : 'plain text alone';
  const shows = supports_markdown === undefined ? [] : [`it shows ${supports_markdown ? 'Markdown' : text}`];
  const takes = max_message_chars === undefined ? [] : [`it takes ${max_message_chars} characters a message`];
  return [...shows, ...takes].map((fact) => `; ${fact}`).join('');
}

const createFormats = () => ({
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  time: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' }),
  weekday: new Intl.DateTimeFormat('en-GB', { weekday: 'long' }),
});
/** Created with the first turn: it takes about 15 ms. */
let formats: ReturnType<typeof createFormats> | null = null;

const minuteMs = 60_000;
/** The last formatted minute. In every zone, minutes begin together with those of the epoch. */
let written = { minute: Number.NaN, text: '' };

/** `Sunday 2026-11-22 10:15 (Europe/Berlin)`, in the zone of this machine. Turns are many, and formatting is slow. */
function timeAt(now: number): string {
  const minute = Math.floor(now / minuteMs);
  if (minute === written.minute) return written.text;
  const { zone, time, weekday } = (formats ??= createFormats());
  written = { minute, text: `${weekday.format(now)} ${time.format(now)} (${zone})` };
  return written.text;
}

const resumeNote = headingLine(
  'resumed',
  ' while you worked on this message; go on from where you were, and do not do again what is done',
);
