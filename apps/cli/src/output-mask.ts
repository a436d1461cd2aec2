import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { createCoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import { maskValue } from '@svc/service-kit/redaction/mask-value.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import { coreUrl } from './service-urls.ts';

/** Masks what a command shows of files and other programs, which the service has not masked with today's secrets. */
export type OutputMask = {
  /** Masks the secrets in lines; each line keeps its place. */
  lines(lines: readonly string[]): Promise<string[]>;
  /** A copy of a JSON value with all its strings masked. */
  value<T>(value: T): Promise<T>;
};

type Deps = {
  settings: Settings;
  env?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  /** Called with a fault, such as an unreadable secrets file, which makes fewer secrets known here. */
  warn?: (message: string) => void;
};

/** Logs are often read because the core hangs, so this does not wait for it. */
const coreTimeoutMs = 2000;
const linesAtOnce = 500;

/**
 * Masks the secrets known to this process (the environment, the secrets file, the keys of connectors) and anything that looks like a secret;
 * while the core runs, it is asked for the secrets that only it knows.
 */
export function openOutputMask({ settings, env = readEnv(settings.root), clock = systemClock, warn = ignore }: Deps): OutputMask {
  const known = openServiceSecrets({ settings, env, clock, warn });
  const core = createCoreMask(coreUrl(settings), settings.insightsToken, clock, coreTimeoutMs);

  const value = async <T>(given: T): Promise<T> => {
    const json = await core.json(known.mask.json(given));
    // The cast: strings are replaced by strings.
    return maskValue(JSON.parse(json), { text: known.line, number: String }) as T;
  };
  return {
    value,
    async lines(lines) {
      const masked: string[] = [];
      for (let at = 0; at < lines.length; at += linesAtOnce) masked.push(...(await value(lines.slice(at, at + linesAtOnce))));
      return masked;
    },
  };
}

/** Masks only what looks like a secret: without the settings, no secrets are known. */
export const withoutSecrets = <T>(value: T): T =>
  // The cast: strings are replaced by strings.
  maskValue(value, { text: createRedactor([]).logLine, number: String }) as T;

/** `svc status` and the core's log say what cannot be masked. */
const ignore = (): void => undefined;
