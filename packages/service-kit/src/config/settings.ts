import { collectorSettings } from './declared/collector.ts';
import { coreSettings, moderationSettings, uploadSettings } from './declared/core.ts';
import { dashboardSettings } from './declared/dashboard.ts';
import { engineSettings } from './declared/engines.ts';
import { everywhereSettings, wrapperSettings } from './declared/everywhere.ts';
import { managerSettings } from './declared/manager.ts';
import { secretSettings, vaultSettings } from './declared/secrets.ts';
import { speechSettings } from './declared/speech.ts';
import { updateSettings } from './declared/updates.ts';
import { engineHomeNames } from './engine-traits.ts';
import { readEnv, type Env } from './env-file.ts';
import { settingFaults } from './setting-faults.ts';
import { settingsOf, valuesOf, type Declared, type Setting, type ValuesOf, SettingsError } from './setting.ts';

/** All settings, in the order and under the headings of `.env.example`. */
export const settingGroups = {
  Everywhere: everywhereSettings,
  Core: coreSettings,
  Engines: engineSettings,
  Secrets: secretSettings,
  Moderation: moderationSettings,
  Uploads: uploadSettings,
  Speech: speechSettings,
  Manager: managerSettings,
  Collector: collectorSettings,
  Dashboard: dashboardSettings,
  Vault: vaultSettings,
  Updates: updateSettings,
  Wrapper: wrapperSettings,
} as const satisfies Record<string, Declared>;

type Groups = typeof settingGroups;
/** The settings of all groups by their names: each is a member of one. */
type All = { [G in keyof Groups]: (group: Groups[G]) => void }[keyof Groups] extends (all: infer A) => void ? A : never;
/** The cast: `Object.assign` has no type for a list. */
const declared = Object.assign({}, ...Object.values(settingGroups)) as All;

/** Every setting by its variable. */
export const settingList: ReadonlyMap<string, Setting<unknown>> = new Map(settingsOf(declared).map((one) => [one.name, one]));

/** All settings, read once, checked and frozen. No other code reads a setting from the environment. */
export type Settings = ValuesOf<typeof declared> &
  Readonly<{
    /** Folder of the program. */
    root: string;
    otel: OtelSettings;
    /** Where the engines of this user keep their files, by the variables that the engines read; undefined is their own choice. */
    engineHomes: Readonly<Record<(typeof engineHomes)[number], string | undefined>>;
  }>;

const engineHomes = ['HOME', ...engineHomeNames] as const;

/** Reads and checks all settings. Throws one `SettingsError` with all problems. */
export function loadSettings(root: string, env: Env = readEnv(root)): Settings {
  const problems: string[] = [];
  const read = <T>({ name, type, default: fallback }: Setting<T>, dataDir: string): T =>
    type({
      name,
      raw: env[name] ?? fallback,
      default: fallback,
      root,
      dataDir,
      problem: (words) => problems.push(`${name} ${words}`),
    });
  const dataDir = read(everywhereSettings.dataDir, root);
  const values = valuesOf(declared, (one) => (one === everywhereSettings.dataDir ? dataDir : read(one, dataDir)));
  const homes = Object.fromEntries(engineHomes.map((name) => [name, env[name]])) as Settings['engineHomes'];
  const settings: Settings = Object.freeze({ ...values, root, otel: otelSettings(values.otlp), engineHomes: homes });
  problems.push(...settingFaults(settings));
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** Names of `SVC_` variables that are no settings, most often because of a typing error. */
export const unknownSettings = (env: Env): string[] =>
  Object.keys(env).filter((name) => name.startsWith('SVC_') && !settingList.has(name));

/** Full addresses of OTLP over HTTP; null: not exported. */
export type OtelSettings = Readonly<{ tracesUrl: string | null; metricsUrl: string | null; metricsEveryMs: number }>;

/** Evaluates the variables of OpenTelemetry's specification. */
function otelSettings({ baseUrl, isOff, ...otlp }: ValuesOf<typeof collectorSettings.otlp>): OtelSettings {
  const address = (own: string | null, exporter: 'otlp' | 'none', path: string): string | null =>
    exporter === 'none' || isOff ? null : (own ?? (baseUrl === null ? null : `${baseUrl}${path}`));
  return {
    tracesUrl: address(otlp.tracesUrl, otlp.traces, '/v1/traces'),
    metricsUrl: address(otlp.metricsUrl, otlp.metrics, '/v1/metrics'),
    metricsEveryMs: otlp.metricsEveryMs,
  };
}
