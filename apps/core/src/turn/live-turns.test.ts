import { expect, test } from 'vitest';
import { createLiveTurns } from './live-turns.ts';
import type { Turn } from './turn.ts';

const turnOf = (conversation_key: string, message_id: string): Turn => ({
  id: 't',
  seq: 1,
  requestId: 'r',
  envelope: { channel: 'compat', conversation_key, message_id, sender: { raw_id: 'anna' }, content: { text: '' } },
  instanceId: null,
});

test.each(['\0', '|', ':', '","', '\\', '\\u0000', '\ud800'])(
  'a message is found only in its own conversation, also when keys and ids contain %j',
  (sign) => {
    const turns = createLiveTurns({
      db: { mark: () => 0, flush: () => Promise.resolve() },
      watches: { accepted: () => undefined, ended: () => undefined },
      isClosed: () => false,
    });
    const live = turns.begin(turnOf(`a${sign}b`, 'c'), null);
    expect(turns.find(`a${sign}b`, 'c')).toBe(live);
    expect(turns.find('a', `b${sign}c`)).toBeUndefined();
    expect(turns.find(`a${sign}b${sign}c`, '')).toBeUndefined();
  },
);
