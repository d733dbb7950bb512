// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One end of a connection: a stack's endpoint with its only connection, and the stream that it sends or receives.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use kneepoint_cc::rng::Rng;

use super::Settings;

/// Bytes that are handed to the stack at once.
pub(super) const CHUNK: usize = 1 << 16;
pub(super) static ZEROS: [u8; CHUNK] = [0; CHUNK];
/// The buffer of a stream's receiver and of its sender: more than any path holds.
pub(super) const WINDOW: u64 = 1 << 30;
/// The sender's and the receiver's.
pub(super) const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 443),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443),
];

/// Numbers in order as connection ids: unlike random ones they are the same in every run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered(pub(super) u64);

impl Numbered {
    pub(super) fn next(&mut self) -> [u8; 8] {
        self.0 += 1;
        self.0.to_be_bytes()
    }
}

/// The seed of an endpoint's random numbers.
pub(super) fn seed(stack: &str, settings: &Settings, side: u64) -> [u8; 32] {
    let mut rng = Rng::stream(settings.seed, stack, 2 * settings.number + side);
    std::array::from_fn(|_| rng.below(256) as u8)
}

/// Both ends of connections in a stack. quinn and noq have the same names but different types; their differences are the
/// functions `endpoint`, `handle`, `transmit`, `hand_over` and `recorded` of the room that uses this, and `CORRECT`.
macro_rules! ends {
    () => {
        type Controllers = Arc<dyn ControllerFactory + Send + Sync>;

        /// Makes ends with these controllers.
        struct Made(Controllers);

        fn made(controllers: impl ControllerFactory + Send + Sync + 'static) -> Factory {
            Arc::new(Made(Arc::new(controllers)))
        }

        fn carrying(config: Config, tape: Option<Tape>) -> Result<Factory, String> {
            Ok(made(match tape {
                Some(tape) => Carried::taped(config, tape)?,
                None => Carried::new(config)?,
            }))
        }

        impl Ends for Made {
            fn stack(&self) -> &'static str {
                HOSTS.name
            }

            fn sender(
                &self,
                settings: &Settings,
                size: Option<u64>,
                now: Instant,
            ) -> Result<Box<dyn End>, String> {
                let seen: Controllers =
                    Arc::new(Seen { inner: Arc::clone(&self.0), ear: settings.ear.clone() });
                let ids = AtomicU64::new(settings.number << 32 | 1 << 31);
                let mut transport = transport(settings, seen);
                if let Some((records, name)) = &settings.record
                    && let Some((record, _)) = records.begin(name, "client", CORRECT)
                {
                    recorded(&mut transport, record, name.clone(), Some(now));
                }
                let mut config = ClientConfig::new(Arc::new(Plain));
                config
                    .transport_config(Arc::new(transport))
                    .token_store(Arc::new(NoneTokenStore))
                    .initial_dst_cid_provider(Arc::new(move || {
                        ConnectionId::new(&ids.fetch_add(1, Ordering::Relaxed).to_be_bytes())
                    }));
                let mut endpoint = numbered(settings, 0, None);
                let opened = endpoint.connect(now, config, ADDRESSES[1], "receiver");
                let connection = opened.map_err(|error| error.to_string())?;
                let role = Role::Sends { left: size, stream: None };
                Ok(Box::new(Host {
                    endpoint,
                    connection: Some(connection),
                    peer: ADDRESSES[1],
                    role,
                    buffer: Vec::new(),
                }))
            }

            fn receiver(&self, settings: &Settings) -> Box<dyn End> {
                let mut config = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
                // A receiver has a controller too, for its acknowledgements. Nobody looks at that.
                config.transport_config(Arc::new(transport(settings, Arc::clone(&self.0))));
                let endpoint = numbered(settings, 1, Some(Arc::new(config)));
                let (peer, role) = (ADDRESSES[0], Role::Receives);
                Box::new(Host { endpoint, connection: None, peer, role, buffer: Vec::new() })
            }
        }

        fn transport(settings: &Settings, controllers: Controllers) -> TransportConfig {
            let mut config = TransportConfig::default();
            let payload = settings.payload() as u16;
            let window = VarInt::from_u64(WINDOW).expect("below 2^62");
            config
                .congestion_controller_factory(controllers)
                .initial_mtu(payload)
                .mtu_discovery_config(None)
                .max_idle_timeout(None)
                .stream_receive_window(window)
                .receive_window(window)
                .send_window(WINDOW)
                .allow_spin(false);
            config
        }

        fn numbered(settings: &Settings, side: u64, server: Option<Arc<ServerConfig>>) -> Endpoint {
            let mut config = EndpointConfig::new(Arc::new(Plain));
            config.rng_seed(Some(seed(HOSTS.name, settings, side))).grease_quic_bit(false);
            let first = (2 * settings.number + side) << 32;
            endpoint(config, server, move || Box::new(Numbered(first)))
        }

        impl ConnectionIdGenerator for Numbered {
            fn generate_cid(&mut self) -> ConnectionId {
                ConnectionId::new(&self.next())
            }
            fn cid_len(&self) -> usize {
                8
            }
            fn cid_lifetime(&self) -> Option<Duration> {
                None
            }
        }

        /// The work of an end on its stream.
        #[derive(Clone, Copy, Debug)]
        enum Role {
            Sends {
                /// Bytes to hand over; without end if `None`.
                left: Option<u64>,
                stream: Option<StreamId>,
            },
            Receives,
        }

        /// One end of a connection.
        struct Host {
            endpoint: Endpoint,
            connection: Option<(ConnectionHandle, Connection)>,
            peer: SocketAddr,
            role: Role,
            buffer: Vec<u8>,
        }

        impl End for Host {
            fn receive(&mut self, datagram: &Datagram, now: Instant) -> Result<(), String> {
                let data = BytesMut::from(datagram.bytes.as_slice());
                let ecn = EcnCodepoint::from_bits(datagram.ecn);
                self.buffer.clear();
                match handle(&mut self.endpoint, now, self.peer, ecn, data, &mut self.buffer) {
                    Some(DatagramEvent::ConnectionEvent(_, event)) => {
                        if let Some((_, connection)) = &mut self.connection {
                            connection.handle_event(event);
                        }
                        Ok(())
                    }
                    Some(DatagramEvent::NewConnection(incoming)) => {
                        self.buffer.clear();
                        let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                        self.connection = Some(accepted.map_err(|error| error.cause.to_string())?);
                        Ok(())
                    }
                    Some(DatagramEvent::Response(_)) | None => Ok(()),
                }
            }

            fn timeout(&mut self) -> Option<Instant> {
                self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
            }

            fn wake(&mut self, now: Instant) {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(now);
                }
            }

            fn stop(&mut self) {
                let Role::Sends { left, stream } = &mut self.role else { return };
                *left = Some(0);
                // The stack has much more than it has sent, and forgets it.
                if let (Some((_, connection)), Some(id)) = (&mut self.connection, stream) {
                    let _ = connection.send_stream(*id).reset(VarInt::from_u32(0));
                }
            }

            fn work(&mut self, now: Instant, emit: &mut dyn FnMut(Datagram)) -> Result<News, String> {
                let mut news = News::default();
                let Some((handle, connection)) = &mut self.connection else { return Ok(news) };
                loop {
                    let mut idle = true;
                    while let Some(event) = connection.poll_endpoint_events() {
                        idle = false;
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    while let Some(event) = connection.poll() {
                        idle = false;
                        self.role.hear(connection, &event, &mut news)?;
                    }
                    self.role.write(connection)?;
                    self.buffer.clear();
                    while let Some(sent) = transmit(connection, now, &mut self.buffer) {
                        idle = false;
                        let ecn = sent.ecn.map_or(0, |ecn| ecn as u8);
                        emit(Datagram { bytes: self.buffer[..sent.size].to_vec(), ecn });
                        self.buffer.clear();
                    }
                    if idle {
                        return Ok(news);
                    }
                }
            }
        }

        impl Role {
            fn hear(
                &mut self,
                connection: &mut Connection,
                event: &Event,
                news: &mut News,
            ) -> Result<(), String> {
                match (event, self) {
                    (Event::Connected, Role::Sends { stream, .. }) => {
                        *stream = connection.streams().open(Dir::Uni);
                    }
                    (Event::Stream(StreamEvent::Finished { .. }), Role::Sends { .. }) => news.finished = true,
                    (Event::Stream(StreamEvent::Opened { .. }), Role::Receives) => {
                        while let Some(id) = connection.streams().accept(Dir::Uni) {
                            news.received += read(connection, id);
                        }
                    }
                    (Event::Stream(StreamEvent::Readable { id }), Role::Receives) => {
                        news.received += read(connection, *id)
                    }
                    (Event::ConnectionLost { reason }, _) => return Err(reason.to_string()),
                    _ => {}
                }
                Ok(())
            }

            /// Hands data over until the stack has enough.
            fn write(&mut self, connection: &mut Connection) -> Result<(), String> {
                let Role::Sends { left, stream: Some(id) } = self else { return Ok(()) };
                let mut stream = connection.send_stream(*id);
                loop {
                    let size = left.map_or(CHUNK, |left| CHUNK.min(usize::try_from(left).unwrap_or(CHUNK)));
                    if size == 0 {
                        // A stream that is finished already stays so.
                        let _ = stream.finish();
                        return Ok(());
                    }
                    match hand_over(&mut stream, Bytes::from_static(&ZEROS[..size])) {
                        Ok(taken) => *left = left.map(|left| left - taken as u64),
                        Err(WriteError::Blocked) => return Ok(()),
                        Err(error) => return Err(error.to_string()),
                    }
                }
            }
        }

        /// Reads a stream's data in any order; returns the number of bytes.
        fn read(connection: &mut Connection, id: StreamId) -> u64 {
            let mut stream = connection.recv_stream(id);
            let Ok(mut chunks) = stream.read(false) else { return 0 };
            let mut bytes = 0;
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                bytes += chunk.bytes.len() as u64;
            }
            // Data to send is polled anyway.
            let _ = chunks.finalize();
            bytes
        }
    };
}
pub(super) use ends;
