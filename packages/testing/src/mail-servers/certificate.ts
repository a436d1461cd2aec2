import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { programs } from './mail-programs.ts';

export type Certificate = { certFile: string; keyFile: string };

/** A self-signed certificate for 127.0.0.1 and localhost, in two files of `folder`. */
export function makeCertificate(folder: string): Certificate {
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync(programs.openssl, ['req', ...kind, ...names, '-keyout', files.keyFile, '-out', files.certFile], {
    stdio: 'ignore',
  });
  return files;
}
