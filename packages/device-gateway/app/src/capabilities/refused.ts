import { get, set } from 'idb-keyval';

const key = 'svc-refused-capabilities';

/** The names of what the person does not want this device to do, whatever the owner allows. */
export const readRefused = async (): Promise<readonly string[]> => (await get<string[]>(key)) ?? [];
export const keepRefused = (names: readonly string[]): Promise<void> => set(key, [...names]);
