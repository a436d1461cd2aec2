import type { Instance } from '@svc/contract/instance.ts';

/** Whether a person is reached over it: the API is there from the first start, and is for programs. */
export const isOwnChannel = ({ type }: Pick<Instance, 'type'>): boolean => type !== 'compat';
