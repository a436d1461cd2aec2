import { del, get, set } from 'idb-keyval';

/** Who this browser is for the gateway. The token is nowhere else: not in an address, not in a cookie. */
export type Device = { token: string; id: string; name: string; assistant: string; instance_id: string };

const key = 'svc-device';

export const readDevice = (): Promise<Device | undefined> => get<Device>(key);
export const keepDevice = (device: Device): Promise<void> => set(key, device);
export const forgetDevice = (): Promise<void> => del(key);
