import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { badRequest } from '@svc/service-kit/service-error.ts';

const stepMs = 30_000;
const recoveryCodes = 10;
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({ issuer: 'Assistant Gateway', label, secret: Secret.fromBase32(secret), digits: 6, period: stepMs / 1000 });

export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** The content of the QR code for an authenticator app. */
export const totpUri = (secret: string, name: string): string => totpOf(secret, name).toString();

/** The 30 s step of a code: the current, the previous or the next one. Null for any other code. */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? null : Math.floor(now / stepMs) + delta;
}

/** It says what was wrong, so it is only for people who are already authenticated. */
export const wrongAppCode = () =>
  badRequest('This code is wrong. Type the code that is shown now. If that fails, check the clocks of both devices.');

/** Ten codes of 60 bits, each written as three groups of four. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const text = [...randomBytes(12)].map((byte) => alphabet[byte & 31]).join('');
    return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
  });

/** The normal form of a recovery code, however it was typed. */
export const bareCode = (text: string): string => text.toUpperCase().replaceAll(/[\s-]/g, '');
