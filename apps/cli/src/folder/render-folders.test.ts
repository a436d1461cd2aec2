import type { Session } from '@svc/contract/session.ts';
import { expect, test } from 'vitest';
import { plain as style } from '../terminal.ts';
import { renderFolders, renderSession } from './render-folders.ts';

const folder = { updated_at: 0, fault: null } as const;

test('folders are listed with their faults, and control characters are escaped', () => {
  const text = renderFolders(
    {
      folders: [
        { ...folder, scope: 'conversation', name: 'a:b:\u001b[2Jc', path: '/srv/a\u001b', for: 'read' },
        { ...folder, scope: 'tier', name: 'KNOWN', path: '/srv/b', for: 'full', fault: 'it does not exist' },
      ],
      trusted: [{ path: '/srv/c', trusted_at: 0 }],
    },
    style,
  );
  expect(text).not.toContain('\u001b');
  expect(text).toContain('(also for who may only read)');
  expect(text).toContain('cannot be used: it does not exist');
  expect(text.endsWith('  /srv/c')).toBe(true);
});

test('an empty list says that no folder is set', () => {
  expect(renderFolders({ folders: [], trusted: [] }, style)).toContain('No folder is set');
});

test('a session shows where it worked and which folder is set for it', () => {
  const session = {
    conversation_key: 'a:b:c',
    title: null,
    surface: 'a',
    state: 'idle',
    engine_id: 'claude',
    model: null,
    turns: 2,
    cwd: '/w',
  };
  const set = { scope: 'instance', path: '/srv/a', for: 'full' };
  const text = renderSession({ ...session, working_folder: set } as Session, style);
  expect(text.split('\n')).toEqual(['a:b:c', '  idle, a, claude, 2 turns', '  worked in /w', '  set for the instance: /srv/a']);
  const named = renderSession({ ...session, title: 'My\u001b trip', working_folder: null } as Session, style);
  expect(named.split('\n').slice(0, 2)).toEqual(['My\\x1b trip', '  a:b:c']);
});
