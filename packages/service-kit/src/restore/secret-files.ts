import { isUtf8 } from 'node:buffer';

const nameOfSecrets = /(?:key|secret|token|credential|passw|passphrase|auth|session|cookie)s?|\.(?:pem|p12|pfx|der)$/i;
const contentOfSecrets = /key|secret|token|credential|passw|passphrase|bearer|authorization|cookie|BEGIN [A-Z ]*PRIVATE/i;
/** A longer file is the store of a library, and those contain logins. */
export const maxPlainBytes = 256 * 1024;

/** True when the name of an instance's file alone shows that it contains secrets. */
export const isSecretName = (name: string): boolean => nameOfSecrets.test(name);

/** True unless an instance's file is clearly harmless: a short text that mentions no keys. */
export function isSecretFile(name: string, content: Buffer): boolean {
  return (
    isSecretName(name) || content.length > maxPlainBytes || !isUtf8(content) || contentOfSecrets.test(content.toString('utf8'))
  );
}
