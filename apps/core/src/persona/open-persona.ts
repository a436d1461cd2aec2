import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { createPersonaFiles, type PersonaFiles } from './persona-files.ts';
import { createPersona, type Persona } from './persona.ts';

type Deps = { paths: Pick<DataPaths, 'persona' | 'personas'>; settings: Pick<CoreSettings, 'assistantName'>; clock: Clock };

/** The system prompt of conversations: for turns, which read it, and for the operator, who edits it. */
export function openPersona({ paths, settings, clock }: Deps): { persona: Persona; personaFiles: PersonaFiles } {
  const places = { file: paths.persona, folder: paths.personas };
  return {
    persona: createPersona({ ...places, assistantName: settings.assistantName, clock }),
    personaFiles: createPersonaFiles(places),
  };
}
