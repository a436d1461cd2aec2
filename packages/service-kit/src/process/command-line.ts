import { readFile } from 'node:fs/promises';
import { askPs } from './ask-ps.ts';

/** The words that a process was started with; none when it is gone, or the system does not show them one by one. */
export async function commandWordsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** The same as one text; empty when it is gone. */
export async function commandLineOf(pid: number): Promise<string> {
  return (await commandWordsOf(pid)).join(' ').trim() || askPs('args=', pid);
}
