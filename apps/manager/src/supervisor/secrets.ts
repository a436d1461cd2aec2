import { readFile, stat } from 'node:fs/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Turns the name of a secret into its value. Throws `unprocessable` with what to do when it cannot. */
export type SecretResolver = { resolve(name: string): Promise<string> };

type Sources = {
  env: Readonly<Record<string, string | undefined>>;
  /** JSON object of names and values, for its owner's eyes only. Read anew each time, so a rotated secret counts. */
  file: string;
};

/** Asks the environment, then the secrets file. The service's own settings and tokens (`SVC_…`) are nobody's secrets. */
export function createSecretResolver({ env, file }: Sources): SecretResolver {
  return {
    async resolve(name) {
      if (name.startsWith('SVC_'))
        throw unresolved(`"${name}" belongs to the service and is not given to connectors. Choose another name.`);
      const value = env[name] ?? (await readSecrets(file))[name];
      if (typeof value === 'string' && value !== '') return value;
      throw unresolved(
        `The secret "${name}" is not set. Put it into the environment or into ${file}, then restart this instance.`,
      );
    },
  };
}

async function readSecrets(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw unresolved(`${file} can be read by others. Run: chmod 600 ${file}`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const secrets = parseObject(text);
  // The parser's own message may quote a part of the text, which is secrets.
  if (secrets === null)
    throw unresolved(`${file} is not a JSON object of names and values. Correct it, then restart this instance.`);
  return secrets;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // told by the caller, without the text
  }
}

const unresolved = (message: string) => new ServiceError('unprocessable', message);
