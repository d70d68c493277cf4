# A terminal for the tests of --watch: runs a command on a pseudo-terminal, as its foreground job, and prints what is seen.
#
#   setsid -w python3 view.py ROWSxCOLUMNS STEP... -- COMMAND...
#
# Steps:  page TEXT     wait for a page in which TEXT stands, print its lines; !TEXT: in which it does not
#         raw TEXT      the same, and print its sequences as well
#         pages N       wait until there were so many
#         lines N       wait until it wrote so many lines
#         background    as the first step: it is no foreground job
#         begin         print what was written before the first page
#         size RxC      another size of the window; later steps look at later pages
#         key TEXT      type it
#         kill SIGNAL   send it to the command
#         sh COMMAND    run by the shell
#         stop          wait until the command is stopped, print what it wrote behind its last page
#         cont          let it go on
#         end           wait for its end, print what it wrote behind its last page, and how it ended
#
# ESC is printed as \e, the time as YYYY-MM-DD hh:mm:ss. A process that has its parent in its session can be stopped by Ctrl-Z: this
# one is the parent, so it must lead a session (setsid).
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time

PAGE = re.compile(rb'\x1b\[H(.*?)(?:\x1b\[J|(?=\x1b\[H|\x1b\[\?7h))', re.S)
# A page that fills the window has no mark at its end: nothing follows for a while.
LAST = re.compile(rb'\x1b\[H(.*?)(?:\x1b\[J|(?=\x1b\[H|\x1b\[\?7h|\Z))', re.S)
SEQUENCE = re.compile(rb'\x1b\[[?0-9;]*[A-Za-z]')
PATIENCE = 20


class Terminal:
    def __init__(self, size, command, background):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        self.data, self.at, self.quiet = b'', 0, False
        self.resize(size)
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            if not background:
                os.tcsetpgrp(slave, os.getpid())
            for number in (signal.SIGTTOU, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):  # & and nohup ignore the latter
                signal.signal(number, signal.SIG_DFL)
            for fd in range(3):
                os.dup2(slave, fd)
            os.execvp(command[0], command)
        self.slave = slave

    def resize(self, size):
        self.rows, columns = map(int, size.split('x'))
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', self.rows, columns, 0, 0))

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.data += os.read(self.master, 65536)
            return True
        return False

    def until(self, find):
        end, gone = time.monotonic() + PATIENCE, None
        while not (found := find()):
            drained = gone and self.quiet  # all that it wrote has been looked at
            gone = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            self.quiet = not self.read(0.05)
            if drained or time.monotonic() > end:
                sys.exit('nothing came: ' + repr(self.data[-2000:]))
        return found

    def say(self, what):
        text = re.sub(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d', 'YYYY-MM-DD hh:mm:ss', what.decode().replace('\r', '').replace('\x1b', '\\e'))
        if text:
            print(text.rstrip('\n'))

    def page(self, text, raw=False):
        without = text.startswith('!')

        def find():
            for m in (LAST if self.quiet else PAGE).finditer(self.data, self.at):
                # One of the size before may come late.
                if (text[without:].encode() in m.group(1)) != without and not 0 < self.rows <= m.group(1).rstrip(b'\r\n').count(b'\n'):
                    return m
            return None
        m = self.until(find)
        self.at = m.end()
        if m.group().endswith(b'\x1b[J') and m.group(1).rstrip(b'\r\n').count(b'\n') + 1 == self.rows:
            print('a page that fills the window has a line behind it: it scrolls')
        self.say(m.group(1) if raw else re.sub(rb'\r*\n$', b'', SEQUENCE.sub(b'', m.group(1))))

    def behind(self):
        last = self.data.rfind(b'\x1b[H')
        at = self.data.find(b'\x1b[?7h', last)
        self.say(self.data[at if at >= 0 else last + 3 if last >= 0 else 0:])

    def wait(self):
        def find():
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            return (status,) if pid else None
        status = self.until(find)[0]
        while self.read(0):
            pass
        self.behind()
        if os.WIFSTOPPED(status):
            print('stopped by', signal.Signals(os.WSTOPSIG(status)).name)
        elif os.WIFSIGNALED(status):
            print('ended by', signal.Signals(os.WTERMSIG(status)).name)
        else:
            print('exit status', os.WEXITSTATUS(status))
        print('keys show' if not ~termios.tcgetattr(self.slave)[3] & (termios.ECHO | termios.ICANON) else 'keys do not show')

    def run(self, steps):
        for step in steps:
            word, _, arg = step.partition(' ')
            if word in ('page', 'raw'):
                self.page(arg, word == 'raw')
            elif word == 'pages':
                self.until(lambda: self.data.count(b'\x1b[H') >= int(arg))
                self.at = len(self.data)
            elif word == 'lines':
                self.until(lambda: self.data.count(b'\n') >= int(arg))
            elif word == 'begin':
                self.until(lambda: b'\x1b[H' in self.data)
                self.say(self.data[:self.data.index(b'\x1b[H')])
            elif word == 'size':
                while self.read(0):
                    pass
                self.at = len(self.data)
                self.resize(arg)
            elif word == 'key':
                os.write(self.master, arg.encode())
            elif word == 'kill':
                os.kill(self.pid, signal.Signals['SIG' + arg])
            elif word == 'sh':
                os.system(arg)
            elif word == 'cont':
                self.at = len(self.data)
                os.kill(self.pid, signal.SIGCONT)
            elif word in ('stop', 'end'):
                self.wait()
            elif word != 'background':
                sys.exit('no such step: ' + step)
        for word in (b'\x1b[3J', b'\x1b[2J'):
            if word in self.data:
                print('erased by', word)
        for stray in re.findall(rb'\x1b\[J(?!\x1b\[H|\x1b\[\?7h).+', self.data):
            print('between pages:', stray)


where = sys.argv.index('--')
steps = sys.argv[2:where]
Terminal(sys.argv[1], sys.argv[where + 1:], 'background' in steps).run(steps)
