"""Simulation of filereel's clients: meetings and common starts, for more clients than a test machine holds.

Discrete events. Each client is a node with a processor and a link; a message costs its sender and its
receiver processor time, waits for the link, and arrives after the latency of the network. A node with
nothing to do looks for messages at intervals, as Clients::State::communicate does. All clients report to
their parent: in a star that is the first client, in a tree each node has up to `fan_out` children.
"""
import dataclasses
import heapq
import itertools
import random
from collections.abc import Callable

PINGS = 8  # of each client before a start: kPings
POLL_S, CLOCK_POLL_S = 200e-6, 10e-6  # between two looks for messages; while pings are under way


def lead_s(clients):
    """From the agreement until the start, see Clients::start."""
    return 5e-3 + 0.5e-3 * min(clients, 200) + 10e-6 * clients


@dataclasses.dataclass
class Costs:
    """Of one client, in seconds and bytes."""
    message_s: float  # processor time at one end
    merge_s: float  # processor time of merging its sample
    sample_bytes: float  # the contribution of a client to the result of a step
    each_bytes: float  # of each client in the merged sample
    answer_bytes: float  # what the other clients get of it


@dataclasses.dataclass
class Network:
    latency_s: float
    bytes_per_s: float = 1.25e9
    cores: int = 0  # shared by all clients, as is the clock; 0: each has a machine of its own


@dataclasses.dataclass
class Scheme:
    """How the clients report."""
    fan_out: int = 0  # 0: a star
    lead: Callable[[int], float] = lead_s


class Events:
    def __init__(self):
        self.now = 0.0
        self.heap, self.order = [], itertools.count()

    def at(self, time, action):
        heapq.heappush(self.heap, (time, next(self.order), action))

    def run(self):
        while self.heap:
            self.now, _, action = heapq.heappop(self.heap)
            action()


class Queue:
    """Serves requests in the order of their arrival, `width` at a time."""

    def __init__(self, events, width=1):
        self.events, self.free = events, [0.0] * width

    def serve(self, seconds, then):
        end = max(self.events.now, heapq.heappop(self.free)) + seconds
        heapq.heappush(self.free, end)
        self.events.at(end, then)


class Node:
    def __init__(self, events, processor, phase):
        self.processor, self.link, self.phase = processor, Queue(events), phase
        self.waiting = 0  # requests
        self.asleep_until = 0.0  # the next look for messages

    def serve(self, seconds, then):
        def done():
            self.waiting -= 1
            then()

        self.waiting += 1
        self.processor.serve(seconds, done)


class Clients:
    """The clients of one run. All times in seconds."""

    def __init__(self, count, costs, network, scheme, seed=1):
        self.events = Events()
        self.costs, self.network, self.scheme = costs, network, scheme
        chance = random.Random(seed)
        shared = Queue(self.events, network.cores) if network.cores else None
        self.nodes = [Node(self.events, shared or Queue(self.events), chance.random() * POLL_S)
                      for _ in range(count)]
        self.children = [[] for _ in range(count)]
        for i in range(1, count):
            self.children[self.parent(i)].append(i)

    def parent(self, i):
        return (i - 1) // self.scheme.fan_out if self.scheme.fan_out else 0

    def transmit(self, sender, receiver, size, then, messages=1, poll_s=POLL_S):
        """From the sender's link on. Calls `then` when the receiver has handled it, at the cost of
        this number of messages."""
        events, target = self.events, self.nodes[receiver]

        def arrive():
            if events.now >= target.asleep_until and target.waiting == 0:
                looks = int((events.now - target.phase) / poll_s) + 1
                target.asleep_until = target.phase + looks * poll_s
            events.at(max(events.now, target.asleep_until),
                      lambda: target.serve(messages * self.costs.message_s, then))

        self.nodes[sender].link.serve(size / self.network.bytes_per_s,
                                      lambda: events.at(events.now + self.network.latency_s, arrive))

    def send(self, sender, receiver, size, then, messages=1, poll_s=POLL_S):
        self.nodes[sender].serve(
            self.costs.message_s, lambda: self.transmit(sender, receiver, size, then, messages, poll_s))

    def meet(self, contribution=0.0, answer=0.0, merge_s=0.0):
        """Seconds until each client has the answer. Sizes in bytes; merge_s for each contribution."""
        begin = self.events.now
        missing = [len(children) + 1 for children in self.children]
        below = [1] * len(self.nodes)  # contributions in a node's report
        for i in reversed(range(1, len(self.nodes))):
            below[self.parent(i)] += below[i]
        ends = [0.0] * len(self.nodes)

        def report(i):
            missing[i] -= 1
            if missing[i] > 0:
                return
            merges = len(self.children[i]) + 1 if self.children[i] else 0

            def merged():
                if i == 0:
                    give(0)
                else:  # a tree passes on one merged sample, and the figures of each client
                    size = contribution + (below[i] - 1) * min(contribution, self.costs.each_bytes)
                    self.send(i, self.parent(i), size, lambda: report(self.parent(i)))

            self.nodes[i].serve(merges * merge_s, merged)

        def give(i):
            ends[i] = self.events.now - begin
            for child in self.children[i]:
                self.send(i, child, answer, lambda child=child: give(child))

        for i in range(len(self.nodes)):
            report(i)
        self.events.run()
        return ends

    def synchronise(self):
        """Exchanges pings; gives for each client the error of its clock and the error it reports."""
        best = [(0.0, 0.0)] * len(self.nodes)  # half the round trip; error

        def ping(i, left):
            sent = self.events.now

            def there():  # has read its clock and sent it at once
                clock = self.events.now - self.costs.message_s

                def back():
                    half = (self.events.now - sent) / 2
                    if left == PINGS or half < best[i][0]:
                        best[i] = (half, clock - sent - half)
                    if left > 1:
                        ping(i, left - 1)

                self.transmit(self.parent(i), i, 16, back, poll_s=CLOCK_POLL_S)

            self.send(i, self.parent(i), 8, there, messages=2, poll_s=CLOCK_POLL_S)

        for i in range(1, len(self.nodes)):
            if not self.network.cores:
                ping(i, PINGS)
        self.events.run()
        errors, reported = [0.0] * len(self.nodes), [0.0] * len(self.nodes)
        for i in range(1, len(self.nodes)):  # those of a tree add up on the way to the first
            errors[i] = errors[self.parent(i)] + best[i][1]
            reported[i] = reported[self.parent(i)] + best[i][0]
        return errors, reported

    def step(self, own_s=0.0):
        """The parts of one step that the clients add to its own time, in seconds. `own_s`: processor
        time of the step of one client, which counts if clients share processors."""
        count = len(self.nodes)
        for node in self.nodes:
            node.serve(own_s, lambda: None)
        self.events.run()
        own = self.events.now
        barrier = max(self.meet())
        begin = self.events.now
        errors, reported = self.synchronise()
        pings = self.events.now - begin
        lead = self.scheme.lead(count)
        arrivals = self.meet(8, 8)
        # By the clock of the first client. An answer that arrives too late starts at once.
        starts = [max(lead - error, arrival - arrivals[0]) for error, arrival in zip(errors, arrivals)]
        result = max(self.meet(self.costs.sample_bytes, self.costs.answer_bytes, self.costs.merge_s))
        return {"barrier": barrier, "pings": pings, "lead": lead, "result": result,
                "all": own + barrier + pings + arrivals[0] + lead + result,
                "skew": max(starts) - min(starts), "clock_error": max(reported),
                "result_bytes": self.costs.each_bytes * count}
