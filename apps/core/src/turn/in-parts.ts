import type { EngineEvent } from '@svc/engine-kit/engine.ts';

/** A longer text of an engine is passed on in parts, so that masking it never blocks the process. */
const partLength = 4096;

type Said = Extract<EngineEvent, { type: 'delta' | 'segment' | 'thinking' }>;

/** Cuts a long event of an engine into parts with the same meaning. Nearly all events are short and stay as they are. */
export function createParts() {
  let isBlockOpen = false;

  const partsOf = (event: Said): EngineEvent[] => {
    // A segment repeats what came as deltas; without them it is the text.
    const isNew = event.type !== 'segment' || !isBlockOpen;
    isBlockOpen = event.type === 'delta' || (event.type === 'thinking' && isBlockOpen);
    if (!isNew || event.text.length <= partLength) return [event];
    const type = event.type === 'thinking' ? 'thinking' : 'delta';
    const parts: EngineEvent[] = [];
    for (let at = 0; at < event.text.length; at += partLength) {
      parts.push({ type, text: event.text.slice(at, at + partLength) });
    }
    return event.type === 'segment' ? [...parts, event] : parts;
  };

  return (event: EngineEvent): readonly EngineEvent[] =>
    event.type === 'delta' || event.type === 'segment' || event.type === 'thinking' ? partsOf(event) : [event];
}
