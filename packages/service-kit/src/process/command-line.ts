import { readFile } from 'node:fs/promises';
import { askPs } from './ask-ps.ts';

/** The arguments of a process; empty if it is gone, or the system does not show them separately. */
export async function commandWordsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** The same as one text; empty if it is gone. */
export async function commandLineOf(pid: number): Promise<string> {
  return (await commandWordsOf(pid)).join(' ').trim() || askPs('args=', pid);
}
