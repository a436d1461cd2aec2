import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Backup, RestoreState } from '@svc/contract/backup.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { oneThread, whyNoFaults, withFault } from '@svc/testing/inject-fault.ts';
import { testUnless } from '@svc/testing/skip-note.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';

const why = whyNoFaults();
const calls = ['mkdir', 'pwritev', 'fdatasync', 'rename'];
const mostCalls = 40;
/** Every call when there is time for it. A rename decides, so each is tried in any case. */
const stride = usualOrDeep(2, 1);

testUnless(why)(
  '[S03] kill -9 before any call of an import leaves all of it pending, or nothing',
  async () => {
    const folder = temporaryFolder();
    const [one, manager, collector] = (await freePorts(3)) as [number, number, number];
    const ports = { core: one, manager, collector };
    const url = (rest = '') => `http://127.0.0.1:${one}/v2/backups${rest}`;
    let core = await startCore(folder.path, ports, oneThread);
    onTestFinished(async () => {
      core.child.kill('SIGKILL');
      await core.exited;
      folder.remove();
    });
    const list = async () => (await (await fetch(url())).json()) as { backups: Backup[]; restore: RestoreState | null };
    await fetch(`http://127.0.0.1:${one}/v2/upload?filename=a.txt`, { method: 'POST', body: 'a tulip' });
    const { id } = (await (await fetch(url(), { method: 'POST' })).json()) as { id: string };
    await expect.poll(async () => (await list()).backups[0]?.state).toBe('done');
    const archive = await (await fetch(url(`/${id}`))).arrayBuffer();
    const take = () => fetch(url('/import'), { method: 'POST', body: archive });
    const undo = async () => (await (await fetch(url('/restore'), { method: 'DELETE' })).json()) as { undone: string };
    const begun = () => readdirSync(path.join(folder.path, 'restore')).filter((name) => name.startsWith('incoming-'));

    let kills = 0;
    const states = new Set<string>();
    for (const call of calls) {
      for (let when = 1; when < mostCalls; when += call === 'rename' ? 1 : stride) {
        const fault = { call, error: 'SIGKILL', when: String(when), files: [] } as const;
        const { result } = await withFault(core.child.pid ?? 0, fault, () => take().catch(() => null));
        if (result !== null) {
          expect(result.status).toBe(200);
          expect(await undo()).toMatchObject({ undone: 'pending' });
          break;
        }
        kills++;
        await core.exited;
        core = await startCore(folder.path, ports, oneThread);
        const { restore } = await list();
        states.add(restore?.state ?? 'none');
        if (restore !== null) expect(await undo()).toMatchObject({ undone: 'pending' });
        if (existsSync(path.join(folder.path, 'restore'))) await expect.poll(begun).toEqual([]);
      }
    }
    expect(kills).toBeGreaterThan(6 / stride);
    expect([...states]).toContain('none');
  },
  300_000,
);
