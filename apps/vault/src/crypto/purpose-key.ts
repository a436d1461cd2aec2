import { hkdfSync } from 'node:crypto';
import { keyBytes } from './aead.ts';

/** What keys made of the root key are for. One never opens what another has sealed. */
export const purposes = ['credentials', 'silos', 'agents', 'inventory'] as const;
export type Purpose = (typeof purposes)[number];

/** The root key's key for one purpose. The root key itself encrypts nothing. */
export const purposeKey = (root: Buffer, vaultId: string, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', root, vaultId, `svc-vault/1 ${purpose}`, keyBytes));
