import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { createCoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import { maskValue } from '@svc/service-kit/redaction/mask-value.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { openServiceSecrets } from '@svc/service-kit/redaction/service-secrets.ts';
import { coreUrl } from './service-urls.ts';

/** For what a command shows of files and of other programs: none of the service's masks may have seen it as it is known now. */
export type OutputMask = {
  /** Lines without secrets, each in its place. */
  lines(lines: readonly string[]): Promise<string[]>;
  /** A copy of a JSON value with every text in it masked. */
  value<T>(value: T): Promise<T>;
};

type Deps = {
  settings: Settings;
  env?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  /** A secrets file that cannot be read, for one: then less is known here. */
  warn?: (message: string) => void;
};

/** Logs are often read because the core hangs: it is not waited for. */
const coreTimeoutMs = 2000;
const linesAtOnce = 500;

/**
 * Masks what is known on this side (the environment, the secrets file, the keys of connectors) and what looks like a secret,
 * and asks the core for what only it knows, while it runs.
 */
export function openOutputMask({ settings, env = readEnv(settings.root), clock = systemClock, warn = ignore }: Deps): OutputMask {
  const known = openServiceSecrets({ settings, env, clock, warn });
  const core = createCoreMask(coreUrl(settings), settings.insightsToken, clock, coreTimeoutMs);

  const value = async <T>(given: T): Promise<T> => {
    const json = await core.json(known.mask.json(given));
    // The cast: texts are replaced by texts.
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

/** A value without what looks like a secret: where the settings cannot be read, nothing more is known. */
export const withoutSecrets = <T>(value: T): T =>
  // The cast: texts are replaced by texts.
  maskValue(value, { text: createRedactor([]).logLine, number: String }) as T;

/** `svc status` and the log of the core say what cannot be masked. */
const ignore = (): void => undefined;
