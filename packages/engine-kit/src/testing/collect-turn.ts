import type { Engine, EngineEvent, EngineRequest } from '../engine.ts';

/** A finished turn, with its events sorted for tests. */
export type CollectedTurn = {
  events: EngineEvent[];
  text: string;
  segments: string[];
  thinking: string;
  /** The engine's session id that the turn reported. */
  sessionId: string | null;
  last: EngineEvent | undefined;
};

/** Runs a turn to its end. `onEvent` receives each event as it arrives. */
export async function collectTurn(
  engine: Engine,
  request: EngineRequest,
  options: { signal?: AbortSignal; onEvent?: (event: EngineEvent) => void } = {},
): Promise<CollectedTurn> {
  const events: EngineEvent[] = [];
  for await (const event of engine.run(request, options.signal ?? new AbortController().signal)) {
    events.push(event);
    options.onEvent?.(event);
  }
  return {
    events,
    text: ofType(events, 'delta')
      .map((event) => event.text)
      .join(''),
    segments: ofType(events, 'segment').map((event) => event.text),
    thinking: ofType(events, 'thinking')
      .map((event) => event.text)
      .join(''),
    sessionId: ofType(events, 'session').at(-1)?.engineSessionId ?? null,
    last: events.at(-1),
  };
}

/** The events of one type, in order. */
export const ofType = <Type extends EngineEvent['type']>(events: readonly EngineEvent[], type: Type) =>
  events.filter((event): event is Extract<EngineEvent, { type: Type }> => event.type === type);
