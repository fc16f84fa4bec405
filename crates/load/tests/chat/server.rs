//! A chat server of a test: it forwards what users say, but for what it is told to do wrong.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What it does with one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Loses,
    Repeats,
    /// Sends it behind the next one to the same user.
    Delays,
    /// Ends the receiver's connection instead.
    Ends,
    /// Keeps it.
    Holds,
    /// Sends it, and all that were kept.
    Opens,
}

struct Member {
    name: String,
    stream: TcpStream,
    delayed: Option<String>,
    held: String,
}

type Rooms = Arc<Mutex<HashMap<String, Vec<Member>>>>;
type Plan = Arc<dyn Fn(u64) -> Fault + Send + Sync>;

/// Serves until the test's process ends; `plan` says what becomes of the n-th delivery. Returns its address.
pub fn serve(plan: impl Fn(u64) -> Fault + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("chat://{}", listener.local_addr().expect("bound"));
    let (rooms, plan, count) = (Rooms::default(), Arc::new(plan) as Plan, Arc::new(Mutex::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (rooms, plan, count) = (Arc::clone(&rooms), Arc::clone(&plan), Arc::clone(&count));
            std::thread::spawn(move || {
                let mut place = None;
                let _ = user(&stream, &rooms, &plan, &count, &mut place);
                if let Some((room, name)) = place {
                    let mut rooms = rooms.lock().expect("no panic");
                    rooms.entry(room).or_default().retain(|member| member.name != name);
                }
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
    });
    url
}

fn user(
    stream: &TcpStream,
    rooms: &Rooms,
    plan: &Plan,
    count: &Mutex<u64>,
    place: &mut Option<(String, String)>,
) -> Option<()> {
    let mut writer = stream;
    let (mut name, mut said) = (String::new(), 0);
    for line in BufReader::new(stream.try_clone().ok()?).lines() {
        let line = line.ok()?;
        let mut words = line.splitn(3, ' ');
        match (words.next()?, words.next()?, words.next()) {
            ("hello", "1", Some(given)) => {
                given.clone_into(&mut name);
                writer.write_all(b"welcome 1 room=20 line=1024 queue=262144\n").ok()?;
            }
            ("join", room, None) => {
                let mut rooms = rooms.lock().ok()?;
                let members = rooms.entry(room.to_owned()).or_default();
                let stream = stream.try_clone().ok()?;
                members.push(Member { name: name.clone(), stream, delayed: None, held: String::new() });
                *place = Some((room.to_owned(), name.clone()));
                writeln!(writer, "joined {room} {}", members.len()).ok()?;
            }
            ("say", number, Some(text)) => {
                said += 1;
                assert_eq!(number, said.to_string(), "numbers have no gaps");
                let (room, _) = place.as_ref()?;
                let mut rooms = rooms.lock().ok()?;
                let mut opens = false;
                for member in rooms.get_mut(room)?.iter_mut().filter(|member| member.name != name) {
                    let mut count = count.lock().ok()?;
                    *count += 1;
                    let fault = plan(*count);
                    opens |= fault == Fault::Opens;
                    member.send(format!("from {room} {name} {number} {text}\n"), fault);
                }
                for member in rooms.values_mut().flatten().filter(|_| opens) {
                    let held = std::mem::take(&mut member.held);
                    let _ = member.stream.write_all(held.as_bytes());
                }
            }
            _ => return writeln!(writer, "error syntax {line}").ok(),
        }
    }
    Some(())
}

impl Member {
    fn send(&mut self, line: String, fault: Fault) {
        let lines = match fault {
            Fault::None | Fault::Opens => line + &self.delayed.take().unwrap_or_default(),
            Fault::Loses => String::new(),
            Fault::Holds => {
                self.held += &line;
                String::new()
            }
            Fault::Repeats => format!("{line}{line}"),
            Fault::Delays => match self.delayed.take() {
                Some(delayed) => line + &delayed,
                None => {
                    self.delayed = Some(line);
                    String::new()
                }
            },
            Fault::Ends => {
                let _ = self.stream.shutdown(Shutdown::Both);
                String::new()
            }
        };
        let _ = self.stream.write_all(lines.as_bytes());
    }
}
