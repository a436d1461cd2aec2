import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openCollectorDb } from './open-collector-db.ts';

test('a database that cannot be opened is reported with its path', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'collector.db');
  mkdirSync(file);
  const open = () => openCollectorDb(file, { clock: systemClock, log: { warn: () => undefined }, durability: 'normal' });
  expect(open).toThrow(`${file} cannot be used: unable to open database file`);
});
