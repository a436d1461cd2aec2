import { t } from '@svc/chat-ui/language/t.ts';
import { Activity, House, ListTree, type LucideIcon, MessageCircle, Radio, Receipt, Search, Settings, Users } from 'lucide-react';

/** `letter`: pressed after `g`, opens the screen. */
export type Destination = { to: string; name: string; icon: LucideIcon; letter: string };

/** The screens of the navigation rail, in order. The first three are the tabs on a phone. */
export const destinations: readonly Destination[] = [
  { to: '/', name: t('Home'), letter: 'h', icon: House },
  { to: '/chat', name: t('Chat'), letter: 'c', icon: MessageCircle },
  { to: '/sessions', name: t('Sessions'), letter: 's', icon: ListTree },
  { to: '/search', name: t('Search'), letter: 'f', icon: Search },
  { to: '/people', name: t('People'), letter: 'p', icon: Users },
  { to: '/channels', name: t('Channels'), letter: 'n', icon: Radio },
  { to: '/costs', name: t('Costs'), letter: 'o', icon: Receipt },
  { to: '/activity', name: t('Activity'), letter: 'a', icon: Activity },
  { to: '/settings', name: t('Settings'), letter: 't', icon: Settings },
];
