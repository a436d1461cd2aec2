import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ifThere } from '@svc/service-kit/files.ts';

/** Removes a thread's file from codex's home, where it is in a folder for its day. */
export async function removeRollout(home: string, threadId: string): Promise<void> {
  for (const folder of ['sessions', 'archived_sessions'].map((name) => path.join(home, name))) {
    const names = await ifThere(readdir(folder, { recursive: true }), []);
    for (const name of names.filter((each) => each.endsWith(`-${threadId}.jsonl`)))
      await rm(path.join(folder, name), { force: true });
  }
}
