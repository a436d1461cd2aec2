/** One thing looked at. `fix` is what to type or do; problems always have one. */
export type Finding = { name: string; state: 'ok' | 'problem' | 'note' | 'skipped'; text: string; fix: string | null };

export const fine = (name: string, text: string): Finding => ({ name, state: 'ok', text, fix: null });
export const problem = (name: string, text: string, fix: string): Finding => ({ name, state: 'problem', text, fix });
export const note = (name: string, text: string, fix: string | null = null): Finding => ({ name, state: 'note', text, fix });
export const skipped = (name: string, text: string): Finding => ({ name, state: 'skipped', text, fix: null });
