// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The common part of quinn and noq: their interfaces have the same names but different types.

/// Endpoints and connections of the stack that is called `stack` where this is used. Their differences are in `Paths`.
macro_rules! endpoint {
    () => {
        /// The differences between quinn and noq.
        trait Paths {
            /// The corrections of its qlog.
            const CORRECT: Correct;

            /// Lets connections of this configuration be recorded.
            fn recorded(config: &mut stack::TransportConfig, record: Record, title: String);
            fn path(&self) -> Option<Path>;
            fn http3(
                &self,
                site: &Arc<Site>,
                limits: &Limits,
                tally: &Arc<Tally>,
            ) -> impl Future<Output = ()> + Send;
            fn get_http3(
                &self,
                address: &str,
                take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
            ) -> impl Future<Output = Result<(), String>>;
        }

        /// A server's endpoint, and the configuration of its connections.
        pub(super) struct Door {
            endpoint: stack::Endpoint,
            config: stack::ServerConfig,
            cc: Config,
            requests: u32,
            records: Option<Records>,
        }

        /// A server's endpoint.
        pub(super) fn server(
            socket: UdpSocket,
            tls: rustls::ServerConfig,
            cc: Config,
            limits: &Limits,
            records: Option<Records>,
        ) -> Result<Door, String> {
            let crypto = QuicServerConfig::try_from(tls).map_err(|error| error.to_string())?;
            let mut config = stack::ServerConfig::with_crypto(Arc::new(crypto));
            let requests = limits.requests;
            config.transport_config(Arc::new(transport(cc.clone(), requests)?));
            let endpoint = endpoint(socket, Some(config.clone()))?;
            Ok(Door { endpoint, config, cc, requests, records })
        }

        /// A client's connection and its endpoint.
        pub(super) async fn connect(
            socket: UdpSocket,
            tls: rustls::ClientConfig,
            cc: Config,
            server: SocketAddr,
            records: Option<&Records>,
        ) -> Result<(stack::Endpoint, stack::Connection, Option<PathBuf>), String> {
            let crypto = QuicClientConfig::try_from(tls).map_err(|error| error.to_string())?;
            let mut config = stack::ClientConfig::new(Arc::new(crypto));
            let mut transport = transport(cc.clone(), 0)?;
            // The name of the record, so it is chosen before.
            let id = proto::RandomConnectionIdGenerator::new(LONGEST_ID).generate_cid();
            config.initial_dst_cid_provider(Arc::new(move || id));
            let record =
                records.and_then(|records| begin(records, &mut transport, id, "client", server, &cc));
            config.transport_config(Arc::new(transport));
            let client = endpoint(socket, None)?;
            let connecting = client.connect_with(config, server, "localhost");
            let connecting = connecting.map_err(|error| error.to_string())?;
            let connection = connecting.await.map_err(|error| error.to_string())?;
            Ok((client, connection, record))
        }

        /// Begins the record of a connection. Returns its name.
        fn begin(
            records: &Records,
            config: &mut stack::TransportConfig,
            id: stack::ConnectionId,
            side: &str,
            peer: SocketAddr,
            cc: &Config,
        ) -> Option<PathBuf> {
            let (record, path) = records.begin(&id, side, <stack::Connection as Paths>::CORRECT)?;
            let title = std::format!("{} on {}, {side}, peer {peer}", cc.name(), NAME);
            <stack::Connection as Paths>::recorded(config, record, title);
            Some(path)
        }

        fn endpoint(
            socket: UdpSocket,
            config: Option<stack::ServerConfig>,
        ) -> Result<stack::Endpoint, String> {
            let runtime = Arc::new(stack::TokioRuntime);
            stack::Endpoint::new(stack::EndpointConfig::default(), config, socket, runtime)
                .map_err(|error| error.to_string())
        }

        /// The stack's own settings, except for the limits on a peer's streams.
        fn transport(cc: Config, requests: u32) -> Result<stack::TransportConfig, String> {
            let mut config = stack::TransportConfig::default();
            let idle = stack::IdleTimeout::try_from(IDLE).map_err(|error| error.to_string())?;
            config
                .congestion_controller_factory(Arc::new(Carried::new(cc)?))
                .max_idle_timeout(Some(idle))
                .max_concurrent_bidi_streams(requests.into())
                // HTTP/3 has three, and reserved kinds one.
                .max_concurrent_uni_streams(4u32.into())
                .datagram_receive_buffer_size(None);
            Ok(config)
        }

        fn span(time: Duration) -> Span {
            Span(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
        }

        /// The host in a controller that was made here.
        fn host(controller: Box<dyn Any>) -> Option<crate::host::Host> {
            controller.downcast::<Carrier>().ok().map(|carrier| carrier.host().clone())
        }

        impl Output for stack::SendStream {
            fn refuse(&mut self) {
                // A stream that the peer stopped needs none.
                let _ = self.reset(0u32.into());
            }
        }

        impl serve::Connection for stack::Connection {
            type Output = stack::SendStream;
            type Input = stack::RecvStream;

            fn protocol(&self) -> Option<Vec<u8>> {
                let data = self.handshake_data()?.downcast::<HandshakeData>().ok()?;
                data.protocol
            }
            async fn accept(&self) -> Option<(stack::SendStream, stack::RecvStream)> {
                self.accept_bi().await.ok()
            }
            async fn open(&self) -> Result<(stack::SendStream, stack::RecvStream), String> {
                self.open_bi().await.map_err(|error| error.to_string())
            }
            fn path(&self) -> Option<Path> {
                Paths::path(self)
            }
            fn close(&self, reason: &str) {
                stack::Connection::close(self, 0u32.into(), reason.as_bytes());
            }
            async fn http3(&self, site: &Arc<Site>, limits: &Limits, tally: &Arc<Tally>) {
                Paths::http3(self, site, limits, tally).await;
            }
            async fn get_http3(
                &self,
                address: &str,
                take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
            ) -> Result<(), String> {
                Paths::get_http3(self, address, take).await
            }
        }

        impl serve::Endpoint for Door {
            type Connection = stack::Connection;
            type Incoming = stack::Incoming;
            type Opening = stack::Connecting;

            async fn next(&self) -> Option<stack::Incoming> {
                self.endpoint.accept().await
            }
            fn peer(incoming: &stack::Incoming) -> SocketAddr {
                incoming.remote_address()
            }
            fn accept(&self, incoming: stack::Incoming) -> Option<(stack::Connecting, Option<PathBuf>)> {
                let Some(records) = &self.records else { return Some((incoming.accept().ok()?, None)) };
                let mut transport = transport(self.cc.clone(), self.requests).ok()?;
                let (id, peer) = (incoming.orig_dst_cid(), incoming.remote_address());
                let record = begin(records, &mut transport, id, "server", peer, &self.cc);
                let mut config = self.config.clone();
                config.transport_config(Arc::new(transport));
                Some((incoming.accept_with(Arc::new(config)).ok()?, record))
            }
            async fn open(opening: stack::Connecting) -> Option<stack::Connection> {
                opening.await.ok()
            }
            fn refuse(incoming: stack::Incoming) {
                incoming.refuse();
            }
            fn close(&self) {
                self.endpoint.close(0u32.into(), b"the server stops");
            }
            async fn idle(&self) {
                self.endpoint.wait_idle().await;
            }
        }
    };
}
pub(super) use endpoint;
