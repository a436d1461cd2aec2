import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { errorText, type Clock, type StartContext } from '@svc/connector-kit';
import type { Config } from '../meta.ts';
import { openCredentials, type Credentials } from './credentials.ts';

/** The login for both servers. `ca`: trusted certificates; undefined for Node's defaults. */
export type MailAccess = { credentials: Credentials; ca: readonly string[] | undefined };

export const openMailAccess = async (ctx: StartContext<Config>, clock: Clock): Promise<MailAccess> => ({
  credentials: await openCredentials({ ...ctx, clock }),
  ca: ctx.config.ca_file === '' ? undefined : [...rootCertificates, readCertificates(ctx.config.ca_file)],
});

function readCertificates(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch (error) {
    throw new Error(`The certificates in ca_file cannot be read: ${errorText(error)}`, { cause: error });
  }
  throw new Error(`${file} (ca_file) contains no certificate. A certificate begins with -----BEGIN CERTIFICATE-----.`);
}
