import type { SessionStreamFrame, TurnBegin, TurnEnd } from '@svc/contract/session.ts';
import { line } from '../insights/words.ts';
import { quoted, visible, visibleLine, type Style } from '../terminal.ts';
import { endings, fileLine, indent } from './render-history.ts';

/** Shows a live conversation in the format of its history. */
export type WatchView = {
  show(frame: SessionStreamFrame): void;
  /** The stream ended and is requested again. */
  broken(): void;
};

const maxDetail = 100;

export function createWatchView(write: (text: string) => void, style: Style, now: () => number = Date.now): WatchView {
  /** The author of the current line; null at the beginning of a line. */
  let writing: string | null = null;
  /** Turns whose text was shown. */
  const said = new Set<string>();
  let waits: string | null = null;
  /** Pending line breaks, written only when more text follows. */
  let breaks = '';

  const endLine = () => {
    if (writing !== null) write('\n');
    [writing, breaks] = [null, ''];
  };
  const note = (text: string) => {
    endLine();
    write(`${indent}${text}\n`);
  };
  const heading = (name: string, about = '') => {
    endLine();
    write(`  ${style.dim(new Date(now()).toLocaleString('sv-SE'))} ${style.bold(name)}${about}\n`);
  };
  const lines = (text: string) => visible(text).trimEnd().split('\n').forEach(note);

  const begin = ({ origin, channel, sender, text, attachments }: TurnBegin) => {
    heading(`${line(sender, 60)}${origin === 'inject' ? ' (operator)' : ''}`, style.dim(`, ${line(channel, 40)}`));
    if (text !== '') lines(text);
    for (const file of attachments) note(style.dim(fileLine(file)));
  };
  const delta = (turnId: string, text: string) => {
    const shown = said.has(turnId) ? text : text.trimStart();
    if (shown === '') return;
    if (writing !== turnId) {
      if (!said.has(turnId) || writing !== null) heading('assistant');
      write(indent);
    }
    said.add(turnId);
    writing = turnId;
    const whole = breaks + visible(shown);
    const words = whole.replace(/\n+$/, '');
    breaks = whole.slice(words.length);
    write(words.replaceAll('\n', `\n${indent}`));
  };
  const end = (turnId: string, { outcome, text, error }: TurnEnd) => {
    const wasSaid = said.delete(turnId);
    if (error !== undefined) {
      heading('error');
      visible(error.message)
        .split('\n')
        .forEach((each) => note(style.red(each)));
      return;
    }
    if (text !== '' && !wasSaid) {
      heading('assistant');
      lines(text);
    }
    endLine();
    const ending = endings[outcome ?? 'silent'];
    if (ending !== undefined) note(style.dim(ending));
  };

  return {
    show(frame) {
      switch (frame.type) {
        case 'begin':
          return begin(frame);
        case 'delta':
          return delta(frame.turn_id, frame.text);
        case 'segment':
          return endLine();
        case 'tool':
          return note(style.dim(`⚙ ${line(frame.name, 80)} ${detail(frame.input)}`));
        case 'tool_result':
          return frame.ok ? undefined : note(style.dim(`✗ ${line(frame.output, maxDetail)}`));
        case 'retract':
          said.delete(frame.turn_id);
          return note(style.dim('withdrawn'));
        case 'queued':
          if (waits !== frame.turn_id) note(style.dim(frame.position > 0 ? `waits, ${frame.position} before it` : 'waits'));
          waits = frame.turn_id;
          return;
        case 'end':
          return end(frame.turn_id, frame);
        case 'gap':
          return note(
            style.yellow(`Something is missing here: ./svc session history ${quoted(visibleLine(frame.conversation_key))}`),
          );
        case 'forgotten':
          return note(style.yellow('This conversation was forgotten.'));
        default:
          return; // thinking, and what a newer core shows
      }
    },
    broken() {
      endLine();
    },
  };
}

const detail = (input: unknown): string => line(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''), maxDetail);
