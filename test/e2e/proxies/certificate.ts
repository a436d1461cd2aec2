import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { existsSync, readFileSync } from 'node:fs';

const program = '/usr/bin/openssl';

export const whyNoCertificate = (): string | null => (existsSync(program) ? null : `there is no ${program}`);

/** A self-signed certificate for a host name. `pin`: the hash by which Chromium trusts it. */
export function makeCertificate(folder: string, host: string): { certificate: string; key: string; pin: string } {
  const certificate = path.join(folder, 'fullchain.pem');
  const key = path.join(folder, 'privkey.pem');
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  execFileSync(program, [...request, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const { publicKey } = new X509Certificate(readFileSync(certificate));
  const pin = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64');
  return { certificate, key, pin };
}
