import { isUtf8 } from 'node:buffer';

const nameOfSecrets = /(?:key|secret|token|credential|passw|passphrase|auth|session|cookie)s?|\.(?:pem|p12|pfx|der)$/i;
const contentOfSecrets = /key|secret|token|credential|passw|passphrase|bearer|authorization|cookie|BEGIN [A-Z ]*PRIVATE/i;
/** What is longer is a store of some library's, and those hold logins. */
export const maxPlainBytes = 256 * 1024;

/** Of a connector instance: true when the name alone says that the file holds secrets. */
export const isSecretName = (name: string): boolean => nameOfSecrets.test(name);

/** True unless a file of a connector instance is seen to be harmless: a short text that speaks of no keys. */
export function isSecretFile(name: string, content: Buffer): boolean {
  return (
    isSecretName(name) || content.length > maxPlainBytes || !isUtf8(content) || contentOfSecrets.test(content.toString('utf8'))
  );
}
