// What the broker does as one step. Only commands of Redis 6.2, and the broker's clock: those of the nodes may be wrong.
import { createHash } from 'node:crypto';

export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

function script(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Renews the lease of a node. KEYS: leases, cards. ARGV: node, lease in ms, card, version that the node has, ms that the keys are kept. Gives back whether the lease
 * still held, the broker's time, since when it knows anything, the version, and the cards where that is another one.
 */
export const RENEW = script(`${NOW}
local node = ARGV[1]
local until_ms = redis.call('ZSCORE', KEYS[1], node)
local held = until_ms and tonumber(until_ms) > now
local changed = false
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  if gone ~= node then
    redis.call('ZREM', KEYS[1], gone)
    redis.call('HDEL', KEYS[2], gone)
    changed = true
  end
end
redis.call('ZADD', KEYS[1], now + ARGV[2], node)
if redis.call('HGET', KEYS[2], node) ~= ARGV[3] then
  redis.call('HSET', KEYS[2], node, ARGV[3])
  changed = true
end
redis.call('HSETNX', KEYS[2], '#epoch', now)
if redis.call('HSETNX', KEYS[2], '#version', now) == 0 and changed then
  redis.call('HINCRBY', KEYS[2], '#version', 1)
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
local version = redis.call('HGET', KEYS[2], '#version')
local epoch = redis.call('HGET', KEYS[2], '#epoch')
if version == ARGV[4] then return { held and 1 or 0, now, epoch, version } end
return { held and 1 or 0, now, epoch, version, redis.call('HGETALL', KEYS[2]) }
`);

/** Who is alive, for one that is no node. KEYS: leases, cards. Gives back what RENEW does, always with the cards. Changes nothing. */
export const LOOK = script(`${NOW}
local cards = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do
  cards[#cards + 1] = node
  cards[#cards + 1] = redis.call('HGET', KEYS[2], node) or ''
end
return { 1, now, redis.call('HGET', KEYS[2], '#epoch') or 'none', '', cards }
`);

/** Ends the lease of a node, and keeps that it has said so, for the log of the others: of some nodes, the last one first. KEYS: leases, cards. ARGV: node. */
export const LEAVE = script(`
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('HDEL', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[2], '#version', 1)
local left = redis.call('HGET', KEYS[2], '#left') or ''
redis.call('HSET', KEYS[2], '#left', string.sub(ARGV[1] .. ' ' .. left, 1, 1000))
return 1
`);

/**
 * Claims a call. KEYS: owner. ARGV: node, term, ms that the key is kept, 'new' or 'held', proof that both are the cluster's. Of two that hold one call in the same term, which only a split leaves behind, the
 * one with the lower ID has it. Gives back who has it.
 */
export const CLAIM = script(`
local owner = redis.call('GET', KEYS[1])
local term = tonumber(ARGV[2])
if owner then
  local had, node = string.match(owner, '^(%d+) (%S+)')
  had = tonumber(had)
  if not had then return owner end
  local yields = node ~= ARGV[1] and (ARGV[4] == 'new' or node < ARGV[1])
  if term < had or (term == had and yields) then return owner end
end
local claimed = ARGV[2] .. ' ' .. ARGV[1] .. ' ' .. ARGV[5]
redis.call('SET', KEYS[1], claimed, 'PX', ARGV[3])
return claimed
`);

/**
 * Keeps the state of a call, unless one of a higher term is there, or a newer one of this node: what was asked on a connection that is gone may come late. KEYS: state.
 * ARGV: term, state, ms, node, when that had it, by its clock.
 */
export const KEEP = script(`
local term = tonumber(redis.call('HGET', KEYS[1], 'term') or 0)
if term > tonumber(ARGV[1]) then return 0 end
if term == tonumber(ARGV[1]) and redis.call('HGET', KEYS[1], 'node') == ARGV[4] then
  if tonumber(redis.call('HGET', KEYS[1], 'since')) > tonumber(ARGV[5]) then return 0 end
end
redis.call('HSET', KEYS[1], 'term', ARGV[1], 'state', ARGV[2], 'node', ARGV[4], 'since', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/** Keeps the owner for a while more, if it is this one, and no state. KEYS: owner, state. ARGV: node, ms, 0 to delete it. */
export const RELEASE = script(`
local owner = redis.call('GET', KEYS[1])
if not owner or string.match(owner, '^%d+ (%S+)') ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
if tonumber(ARGV[2]) > 0 then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('DEL', KEYS[1])
`);

/** Takes a place, or keeps it. KEYS: places. ARGV: who, limit, ms. Gives back whether there was one, and how many are taken. */
export const TAKE = script(`${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local taken = redis.call('ZCARD', KEYS[1])
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if taken >= tonumber(ARGV[2]) then return { 0, taken } end
  taken = taken + 1
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return { 1, taken }
`);

/** Counts the places that are taken. KEYS: places. */
export const TAKEN = script(`${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return redis.call('ZCARD', KEYS[1])
`);

/**
 * Appends facts to the log, unless the broker has lost what this node had told it: that comes first. It may have lost some, and have the rest: a replica that has taken the place of a broker that died
 * may lack what that had got last. KEYS: log, epoch. ARGV: the epoch that the node knows, or nothing; the entry that it has appended last, and the ID before that, or nothing; how many entries the log keeps,
 * and for how many ms; by which of both it is cut now, 'MAXLEN' or 'MINID'; fields of the entry, if any. Gives back the epoch, another one where all was lost; and the ID of the entry, or nothing, or `lost` where the last one is not there.
 */
export const APPEND = script(`${NOW}
redis.call('SET', KEYS[2], string.format('%.0f', now), 'NX')
local epoch = redis.call('GET', KEYS[2])
if ARGV[1] ~= '' and ARGV[1] ~= epoch then return { epoch, '' } end
local function next_to(id)
  local found = redis.call('XREAD', 'COUNT', 1, 'STREAMS', KEYS[1], id)
  return found and found[1][2][1][1]
end
if ARGV[2] ~= '' then
  local there = next_to(ARGV[3])
  if there ~= ARGV[2] and (not there or there ~= next_to('0-0')) then return { epoch, 'lost' } end
end
local id = ''
if #ARGV > 6 then
  local cut = { 'MAXLEN', '~', ARGV[4] }
  if ARGV[6] == 'MINID' then cut = { 'MINID', '=', string.format('%.0f', now - ARGV[5]) } end
  id = redis.call('XADD', KEYS[1], cut[1], cut[2], cut[3], '*', unpack(ARGV, 7))
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return { epoch, id }
`);
