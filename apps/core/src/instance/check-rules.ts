import { rolePrefix, type InstanceRules, type RuleProblem } from '@svc/contract/instance-rules.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { EngineId } from '../engine/load-engine.ts';
import type { FolderLooks } from '../folder/folder-looks.ts';
import type { Persona } from '../persona/persona.ts';
import type { TrustAdmin } from '../trust/trust-admin.ts';
import type { InstanceRulesReader } from './instance-rules.ts';

type Deps = {
  engineIds: readonly EngineId[];
  engines: Pick<EngineRegistry, 'look'>;
  folderLooks: Pick<FolderLooks, 'look'>;
  /** Normalizes a path as folders are stored. */
  tidyPath(path: string): string;
  persona: Pick<Persona, 'has'>;
  trustAdmin: Pick<TrustAdmin, 'listPrincipals' | 'listRoles'>;
  instanceRules: Pick<InstanceRulesReader, 'all'>;
  clock: Pick<Clock, 'elapsed'>;
};

export type RuleCheck = {
  /** The rules of an instance that cannot be applied here and now, one row per field. */
  problems(rules: InstanceRules): Promise<RuleProblem[]>;
  /** Rules of instances that have become invalid since they were set, for `/health`. */
  notices(): string[];
};

const recheckMs = 10_000;

/** Notices are the result of the last check; the next one runs in the background, so that nobody waits for a folder or an engine. */
export function createRuleCheck(deps: Deps): RuleCheck {
  let found: string[] = [];
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = async (): Promise<void> => {
    const lines: string[] = [];
    for (const [id, rules] of deps.instanceRules.all()) {
      const problems = await problemsOf(deps, rules).catch((error: unknown) => [
        { field: 'rules', problem: `cannot be checked: ${errorText(error)}` },
      ]);
      lines.push(...problems.map(({ field, problem }) => `the setting ${field} of the connector ${id} ${problem}`));
    }
    found = lines;
  };

  return {
    problems: (rules) => problemsOf(deps, rules),
    notices() {
      if (deps.clock.elapsed() - lookedAt >= recheckMs) {
        lookedAt = deps.clock.elapsed();
        void look();
      }
      return found;
    },
  };
}

async function problemsOf(deps: Deps, { engine, model, cwd, persona, allow }: InstanceRules): Promise<RuleProblem[]> {
  const problems = {
    engine: engine === undefined ? null : await engineProblem(deps, engine),
    model: model !== undefined && engine === undefined ? 'needs the engine that it is a model of' : null,
    cwd: cwd === undefined ? null : await cwdProblem(deps, cwd),
    persona: persona === undefined || deps.persona.has(persona) ? null : noPersona(persona),
    allow: allow === undefined ? null : await allowProblem(deps, allow),
  };
  return Object.entries(problems).flatMap(([field, problem]) => (problem === null ? [] : [{ field, problem }]));
}

async function engineProblem({ engines, engineIds }: Deps, engine: string): Promise<string | null> {
  const id = engineIds.find((each) => each === engine);
  if (id === undefined) return `names an engine that does not exist: there are ${engineIds.join(', ')}`;
  const found = await engines.look(id);
  return found.installed ? null : `names an engine that is not installed: ./svc engine install ${id}`;
}

async function cwdProblem({ folderLooks, tidyPath }: Deps, cwd: string): Promise<string | null> {
  const finding = await folderLooks.look(tidyPath(cwd));
  return finding.ok ? null : `names a folder that cannot be used: ${finding.why}`;
}

const noPersona = (name: string): string => `names a persona that does not exist: create personas/${name}.md in the data folder`;

async function allowProblem({ trustAdmin }: Deps, allow: readonly string[]): Promise<string | null> {
  const [people, roles] = await Promise.all([trustAdmin.listPrincipals(), trustAdmin.listRoles()]);
  const known = new Set([...people.flatMap(({ id, key }) => [id, key]), ...roles.map(({ name }) => `${rolePrefix}${name}`)]);
  const unknown = allow.filter((entry) => !known.has(entry));
  return unknown.length === 0
    ? null
    : `names people or roles that do not exist: ${unknown.map((entry) => `"${entry}"`).join(', ')}`;
}
