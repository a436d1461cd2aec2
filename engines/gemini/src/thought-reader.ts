import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

export type ThoughtReader = {
  push(chunk: Buffer): void;
  /** True when the model has reported its end; a stream that ends without it was cut off. */
  readonly finished: boolean;
};

type StreamEvent = { candidates?: { content?: { parts?: { text?: unknown; thought?: unknown }[] } }[] };

const maxLineLength = 16 * 1024 * 1024;

/** Reads the model's thoughts from a reply stream, because the program does not print them. Other lines are not parsed. */
export function createThoughtReader(onThought: (text: string) => void): ThoughtReader {
  let finished = false;
  const onLine = (line: string) => {
    if (!line.startsWith('data:')) return;
    if (line.includes('"finishReason"')) finished = true;
    if (!/"thought"\s*:\s*true/.test(line)) return;
    const text = thoughtsOf(line.slice('data:'.length));
    if (text !== '') onThought(text);
  };
  // After a line that is too long, reading stops; the stream itself continues.
  const splitter = createLineSplitter(maxLineLength, onLine, () => (finished = true));
  return {
    push: splitter.push,
    get finished() {
      return finished;
    },
  };
}

function thoughtsOf(json: string): string {
  try {
    const { candidates = [] } = JSON.parse(json) as StreamEvent;
    const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
    return parts.map(({ thought, text }) => (thought === true && typeof text === 'string' ? text : '')).join('');
  } catch {
    return ''; // the program handles it
  }
}
