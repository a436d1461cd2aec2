import { refuse } from './completion-error.ts';

const maxStops = 4;
const maxStopChars = 1_000;

/** The texts at which an answer ends; none when the caller names none. @throws ServiceError naming the field. */
export function parseStop(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > maxStops) throw refuse('stop', `'stop' must have at most ${maxStops} strings.`, 'array_above_max_length');
  return list.map((each) => {
    if (typeof each === 'string' && each !== '' && each.length <= maxStopChars) return each;
    throw refuse(
      'stop',
      `'stop' must be a string of 1 to ${maxStopChars} characters, or an array of such strings.`,
      'invalid_value',
    );
  });
}

/** What stands before the text that is whole first, which is where an answer that comes in parts ends. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const end = firstOf(text, stops);
  return end === -1 ? text : text.slice(0, end);
}

/** Where the stop begins that ends first; of those that end together the longest. -1 for none. */
function firstOf(text: string, stops: readonly string[]): number {
  const found = stops.map((stop) => ({ at: text.indexOf(stop), length: stop.length })).filter(({ at }) => at !== -1);
  const [first] = found.toSorted((a, b) => a.at + a.length - (b.at + b.length) || a.at - b.at);
  return first?.at ?? -1;
}

export type StopCutter = {
  push(text: string): void;
  /** Nothing more comes: what was held back goes out. */
  end(): void;
};

/** Cuts a text that comes in parts. Holds back what could be the beginning of a stop, and nothing more. */
export function createStopCutter(stops: readonly string[], send: (text: string) => void): StopCutter {
  if (stops.length === 0) return { push: send, end: () => undefined };
  let held = '';
  let isOver = false;
  const give = (text: string) => {
    held = held.slice(text.length);
    send(text);
  };
  return {
    push(text) {
      if (isOver) return;
      held += text;
      const end = firstOf(held, stops);
      isOver = end !== -1;
      give(held.slice(0, isOver ? end : held.length - begunStop(held, stops)));
    },
    end() {
      if (!isOver && held !== '') give(held);
      isOver = true;
    },
  };
}

/** Length of the longest end of a text with which a stop could begin. */
function begunStop(text: string, stops: readonly string[]): number {
  const most = Math.max(...stops.map((stop) => stop.length)) - 1;
  for (let length = Math.min(most, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (stops.some((stop) => stop.startsWith(end))) return length;
  }
  return 0;
}
