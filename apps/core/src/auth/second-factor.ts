import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { badRequest } from '@svc/service-kit/service-error.ts';

const stepMs = 30_000;
const recoveryCodes = 10;
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({ issuer: 'Assistant Gateway', label, secret: Secret.fromBase32(secret), digits: 6, period: stepMs / 1000 });

export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** What the QR code of an authenticator app says. */
export const totpUri = (secret: string, name: string): string => totpOf(secret, name).toString();

/** The step of 30 s whose code this is: the one now, the one before or the one after. Null for any other. */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? null : Math.floor(now / stepMs) + delta;
}

/** Says what was wrong, so it is for who is known already. */
export const wrongAppCode = () =>
  badRequest('This code is wrong. Compare the clocks of both devices, and type the code that is shown now.');

/** Ten codes of 60 bits, each written as three groups of four. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const text = [...randomBytes(12)].map((byte) => alphabet[byte & 31]).join('');
    return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
  });

/** A recovery code as it is compared, however it was typed. */
export const bareCode = (text: string): string => text.toUpperCase().replaceAll(/[\s-]/g, '');
