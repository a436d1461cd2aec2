import type { Instance } from '@svc/contract/instance.ts';

/** Whether people use it: the API exists from the first start, and is for programs. */
export const isOwnChannel = ({ type }: Pick<Instance, 'type'>): boolean => type !== 'compat';
