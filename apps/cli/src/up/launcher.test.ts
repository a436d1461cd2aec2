import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { updatePlaces, type UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { beginTrial, confirmTrial, readPointer, readTrial, revertTrial } from '../update/pointer.ts';
import { launch } from './launcher.ts';

const version = 'b'.repeat(40);
let home: string;
let places: UpdatePlaces;

/** A clone whose `svc up` records its version and runs the script; `$new` is set while the pointer exists. */
beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  home = folder.path;
  places = updatePlaces(home);
  mkdirSync(path.join(places.versions, version), { recursive: true });
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
});
function svc(script: string): void {
  const file = path.join(home, 'svc');
  const head = `#!/bin/sh\nif [ -L '${places.pointer}' ]; then new=yes; echo new; else new=; echo old; fi >>'${home}/runs'\n`;
  writeFileSync(file, `${head}${script}\n`);
  chmodSync(file, 0o755);
}
const runs = () => (existsSync(path.join(home, 'runs')) ? readFileSync(path.join(home, 'runs'), 'utf8').trim().split('\n') : []);
const untilAsked = "trap 'exit 75' USR2; while :; do sleep 0.05; done";

test('a version on trial that exits is rolled back', async () => {
  svc('[ -z "$new" ] || exit 3; exit 0');
  beginTrial(places, version);
  expect(await launch(home)).toBe(0);
  expect([runs(), readPointer(places), readTrial(places)]).toEqual([['new', 'old'], null, null]);
  expect(readFileSync(places.reverted, 'utf8')).toContain('exit code 3');
});

test('the previous version starts when the updater rolls the trial back just before the new one exits', async () => {
  svc(`[ -n "$new" ] || exit 0; touch '${home}/began'; while [ ! -e '${places.reverted}' ]; do sleep 0.05; done; exit 3`);
  beginTrial(places, version);
  const launched = launch(home);
  await vi.waitUntil(() => existsSync(path.join(home, 'began')), 10_000);
  revertTrial(places, 'a process of it is not well');
  expect(await launched).toBe(0);
  expect(runs()).toEqual(['new', 'old']);
});

test('a version on trial that is not confirmed in time is rolled back', async () => {
  svc(`[ -n "$new" ] || exit 0; ${untilAsked}`);
  beginTrial(places, version);
  expect(await launch(home, { trialMs: 300 })).toBe(0);
  expect([runs(), readPointer(places), readTrial(places)]).toEqual([['new', 'old'], null, null]);
  expect(readFileSync(places.reverted, 'utf8')).toContain('not confirmed');
});

test('a trial does not time out while its updater runs', async () => {
  svc(`n=0; while [ $n -lt 20 ]; do sleep 0.05; n=$((n + 1)); done; exit 0`);
  beginTrial(places, version);
  const [from, to] = [
    { name: '1', commit: 'a' },
    { name: '2', commit: version },
  ];
  const { pid } = process;
  writeFileSync(places.journal, JSON.stringify({ phase: 'trying', startedAt: 1, from, to, pid, born: birthMark(pid) }));
  expect(await launch(home, { trialMs: 100 })).toBe(0);
  expect([runs(), readPointer(places)]).toEqual([['new'], version]);
});

test('a confirmed version stays, and its exit code is returned', async () => {
  svc('sleep 0.5; exit 7');
  beginTrial(places, version);
  confirmTrial(places);
  expect(await launch(home, { trialMs: 100 })).toBe(7);
  expect([runs(), readPointer(places)]).toEqual([['new'], version]);
});

test('the next version is started in stand-by and continues when the current one asks to be replaced', async () => {
  const words = path.join(places.versions, version, 'apps/cli/src/up/stand-by.ts');
  mkdirSync(path.dirname(words), { recursive: true });
  writeFileSync(words, '');
  // The first requests a stand-by and exits when it is ready; the second reports ready and is told to go.
  const svcFile = path.join(places.versions, version, 'svc');
  svc(
    `ln -sfn versions/${version} '${places.pointer}'; echo prepare >&3; read -r word <&3; echo "old heard $word" >>'${home}/runs'; exit 75`,
  );
  writeFileSync(path.join(home, 'old'), readFileSync(path.join(home, 'svc')));
  const next = `#!/bin/sh\necho "$GATEWAY_LIFELINE" >>'${home}/runs'\necho ready >&3\nread -r word <&3\necho "new heard $word" >>'${home}/runs'\nexit 5\n`;
  writeFileSync(svcFile, next, { mode: 0o755 });
  writeFileSync(
    path.join(home, 'svc'),
    `#!/bin/sh\nif [ -L '${places.pointer}' ]; then exec '${svcFile}'; fi\nexec '${home}/old'\n`,
    { mode: 0o755 },
  );
  chmodSync(path.join(home, 'old'), 0o755);
  expect(await launch(home)).toBe(5);
  expect(runs()).toEqual(['old', 'waits', 'old heard ready', 'new heard go']);
});
