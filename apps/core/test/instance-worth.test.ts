import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { openCoreDb } from '../src/db/open-core-db.ts';
import { createDeliveryStore } from '../src/delivery/delivery-store.ts';
import { noteWorth } from '../src/instance/instance-worth.ts';
import { createSessionStore } from '../src/session/session-store.ts';
import { createTurnJournal } from '../src/turn/turn-journal.ts';

test('records open work, last use and number of people for each instance', async () => {
  const folder = temporaryFolder();
  const db = openCoreDb(path.join(folder.path, 'core.db'));
  onTestFinished(async () => {
    await db.close();
    folder.remove();
  });
  const session = (key: string, instance: string | null, person: string, at: number) =>
    db.run(
      'INSERT INTO session (conversation_key, surface, instance_id, principal_id, created_at, last_active_at) VALUES (?, ?, ?, ?, 0, ?)',
      key,
      'x',
      instance,
      person,
      at,
    );
  const turn = (key: string, id: string, open: number) =>
    db.run(
      `INSERT INTO turn (id, conversation_key, message_id, sender, origin, state, open, attempts, request_id, accepted_at)
       VALUES (?, ?, ?, '', '', 'queued', ?, 0, '', 0)`,
      id,
      key,
      id,
      open,
    );
  await session('a', 'messenger', 'ann', 10);
  await session('b', 'messenger', 'bob', 30);
  await session('c', 'messenger', 'ann', 20);
  await session('d', 'compat', 'ann', 5);
  await session('e', null, 'ann', 99);
  await turn('a', 't1', 1);
  await turn('a', 't2', 0);
  await db.run(
    `INSERT INTO delivery (id, turn_id, turn_seq, conversation_key, instance_id, target, text, injected, state, attempts, created_at, updated_at)
     VALUES ('dlv', 't0', 0, 'z', 'email', 'z', '', 0, 'pending', 0, 0, 0)`,
  );
  const file = path.join(folder.path, 'instance-worth.json');
  const clock = createFakeClock();
  const sources = {
    sessions: createSessionStore(db, clock),
    journal: createTurnJournal(db, clock),
    deliveries: createDeliveryStore(db, clock, randomIds),
  };
  const notes = noteWorth({ ...sources, file, clock, log: { warn: () => undefined } as never });
  await notes.end();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    messenger: { open: 1, last_used_at: 30, persons: 2 },
    compat: { open: 0, last_used_at: 5, persons: 1 },
    email: { open: 1, last_used_at: 0, persons: 0 },
  });
});
