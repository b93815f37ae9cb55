-- One decision of a breaker: KEYS[1] is its hash, ARGV[1] is now and ARGV[2] the length of a lease, both in ms.
-- Answers {0: defer, 1: proceed, 2: probe; ms}.
local seen = redis.call('HMGET', KEYS[1], 'state', 'until')
if not seen[1] or seen[1] == 'closed' then
  return {1, 0}
end
local now = tonumber(ARGV[1])
local left = tonumber(seen[2]) - now
if left > 0 then
  return {0, left}
end
redis.call('HSET', KEYS[1], 'state', 'half-open', 'until', now + tonumber(ARGV[2]))
return {2, tonumber(ARGV[2])}
