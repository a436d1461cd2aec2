import { t } from '@svc/chat-ui/language/t.ts';
import { lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';

/** `id`: the section is at `/settings/<id>`. `about`: what is set there, in a few words. */
export type SettingsSection = { id: string; name: string; about: string; Screen: ComponentType };

const section = (id: string, name: string, about: string, Screen: ComponentType): SettingsSection => ({
  id,
  name,
  about,
  Screen,
});
const from = lazyRouteComponent;

/** The sections of the settings, in their order, each loaded when it is first shown. */
export const settingsSections: readonly SettingsSection[] = [
  section(
    'engines',
    t('Engines'),
    t('who answers, with which key'),
    from(() => import('./engines.tsx'), 'Engines'),
  ),
  section(
    'tools',
    t('Tools'),
    t('what the assistant can use, and who may'),
    from(() => import('./tools/tools.tsx'), 'Tools'),
  ),
  section(
    'persona',
    t('Persona'),
    t('who the assistant is, in your words'),
    from(() => import('./persona/persona.tsx'), 'Personas'),
  ),
  section(
    'limits',
    t('Limits'),
    t('what may be spent, in all and by one sender'),
    from(() => import('./limits/limits.tsx'), 'Limits'),
  ),
  section(
    'speech',
    t('Speech'),
    t('who speaks and listens, with a test of each'),
    from(() => import('./speech/speech.tsx'), 'Speech'),
  ),
  section(
    'files',
    t('Files'),
    t('what was uploaded, and private stores'),
    from(() => import('./files/files.tsx'), 'Files'),
  ),
  section(
    'folders',
    t('Folders'),
    t('where turns work, and what may run there'),
    from(() => import('./folders/folders.tsx'), 'Folders'),
  ),
  section(
    'announcements',
    t('Announcements'),
    t('notes that conversations read at their next turn'),
    from(() => import('./announcements/announcements.tsx'), 'Announcements'),
  ),
  section(
    'secrets',
    t('Secrets'),
    t('tokens and passwords that channels, engines and tools use'),
    from(() => import('./secrets/secrets.tsx'), 'Secrets'),
  ),
  section(
    'vault',
    t('Vault'),
    t('whether it is open, and what waits for it'),
    from(() => import('./secrets/vault.tsx'), 'Vault'),
  ),
  section(
    'keys',
    t('API keys'),
    t('which programs may use the assistant, and for how much'),
    from(() => import('./keys/api-keys.tsx'), 'ApiKeys'),
  ),
  section(
    'backups',
    t('Backups'),
    t('copies of everything, and going back to one'),
    from(() => import('./backups.tsx'), 'Backups'),
  ),
  section(
    'version',
    t('Version'),
    t('which version runs, and newer ones'),
    from(() => import('./updates.tsx'), 'Updates'),
  ),
  section(
    'account',
    t('Account'),
    t('passkeys, authenticator app, password, where you are signed in'),
    from(() => import('./account.tsx'), 'Account'),
  ),
];
