import { CoreError, type HandleResult } from '@svc/connector-kit';
import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import { filesOf, textOf } from '@svc/contract/turn.ts';

/** The frames of an ended turn, for readers to whom the core did not show it. */
export function endFrames(key: string, { turn_id, outcome, actions }: HandleResult): StreamFrame[] {
  const turn = { conversation_key: key, turn_id };
  const text = textOf(actions);
  const files = filesOf(actions).map(({ path, name, mime }) => ({ path, name, mime }));
  return [
    ...(text === '' ? [] : [{ ...turn, type: 'delta', text } as const]),
    { ...turn, type: 'done', outcome, text, ...(files.length > 0 && { files }) },
  ];
}

/** The same for a failed turn; none unless the core reported the failure, because the turn may still run. */
export function failureFrames(key: string, turnId: string, error: unknown, requestId: string): StreamFrame[] {
  if (!(error instanceof CoreError) || !error.isAnswer) return [];
  return [{ conversation_key: key, turn_id: turnId, type: 'done', outcome: null, text: '', error: error.toBody(requestId) }];
}
