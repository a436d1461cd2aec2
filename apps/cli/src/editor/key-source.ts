import { emitKeypressEvents } from 'node:readline';
import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Key } from './editor.ts';
import { createPasteSplitter, type TerminalInput } from './paste-splitter.ts';

export type KeyHandlers = { onKey: (key: Key) => void; onPaste: (text: string) => void; onEnd: () => void };

const [pasteOn, pasteOff] = ['\u001B[?2004h', '\u001B[?2004l'];
/** A lone Escape is recognized by the pause after it. */
const pauseMs = 40;

/** Reads a terminal key by key, until the returned function is called. A paste arrives as one event. */
export function readKeys(input: NodeJS.ReadStream, output: NodeJS.WriteStream, handlers: KeyHandlers): () => void {
  const decoder = new StringDecoder('utf8');
  const splitter = createPasteSplitter();
  const keys = new PassThrough();
  let timer: NodeJS.Timeout | undefined;
  emitKeypressEvents(keys);
  keys.on('keypress', (_text: string | undefined, key: Key) => handlers.onKey(key));
  const pass = (found: readonly TerminalInput[]) => {
    for (const { type, text } of found) {
      if (type === 'paste') handlers.onPaste(text);
      else keys.emit('data', Buffer.from(text));
    }
  };
  const onData = (bytes: Buffer) => {
    clearTimeout(timer);
    pass(splitter.push(decoder.write(bytes)));
    if (splitter.isHolding()) timer = setTimeout(() => pass(splitter.flush()), pauseMs);
  };
  input.setRawMode?.(true);
  output.write(pasteOn);
  input.on('data', onData).on('end', handlers.onEnd);
  input.resume();
  return () => {
    clearTimeout(timer);
    input.off('data', onData).off('end', handlers.onEnd);
    output.write(pasteOff);
    input.setRawMode?.(false);
    input.pause();
  };
}
