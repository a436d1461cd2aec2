import { Activity, House, ListTree, type LucideIcon, MessageCircle, Radio, Receipt, Search, Settings, Users } from 'lucide-react';

/** `letter`: after `g`, leads there. */
export type Destination = { to: string; name: string; icon: LucideIcon; letter: string };

/** The screens of the rail, in its order. The first three are the tabs of a phone. */
export const destinations: readonly Destination[] = [
  { to: '/', name: 'Home', letter: 'h', icon: House },
  { to: '/chat', name: 'Chat', letter: 'c', icon: MessageCircle },
  { to: '/sessions', name: 'Sessions', letter: 's', icon: ListTree },
  { to: '/search', name: 'Search', letter: 'f', icon: Search },
  { to: '/people', name: 'People', letter: 'p', icon: Users },
  { to: '/channels', name: 'Channels', letter: 'n', icon: Radio },
  { to: '/costs', name: 'Costs', letter: 'o', icon: Receipt },
  { to: '/activity', name: 'Activity', letter: 'a', icon: Activity },
  { to: '/settings', name: 'Settings', letter: 't', icon: Settings },
];
