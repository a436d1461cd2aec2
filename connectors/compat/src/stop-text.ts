import { refuse } from './completion-error.ts';

const maxStops = 4;
const maxStopChars = 1_000;

/** The texts at which an answer ends; empty when the caller names none. @throws ServiceError naming the field */
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

/** The text before the stop that is completed first, which is also where a streamed answer ends. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const end = firstOf(text, stops);
  return end === -1 ? text : text.slice(0, end);
}

/** Start of the stop that ends first; of several with the same end, the longest. -1 for none. */
function firstOf(text: string, stops: readonly string[]): number {
  const found = stops.map((stop) => ({ at: text.indexOf(stop), length: stop.length })).filter(({ at }) => at !== -1);
  const [first] = found.toSorted((a, b) => a.at + a.length - (b.at + b.length) || a.at - b.at);
  return first?.at ?? -1;
}

export type StopCutter = {
  push(text: string): void;
  /** The text is complete: sends what was held back. */
  end(): void;
};

/** Cuts a streamed text. Holds back only what could be the beginning of a stop. */
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

/** Length of the longest suffix of a text that could begin a stop. */
function begunStop(text: string, stops: readonly string[]): number {
  const most = Math.max(...stops.map((stop) => stop.length)) - 1;
  for (let length = Math.min(most, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (stops.some((stop) => stop.startsWith(end))) return length;
  }
  return 0;
}
